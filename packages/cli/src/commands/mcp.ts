import type { Command } from 'commander'
import { common } from '../options.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  common(command)
    .option('--allow-reveal', 'let tools show values, where they are asked to')
    .addHelpText('after', helpAfter)
    .action(async (flags: Flags) => {
      const { serve } = await import('../mcp/serve.ts')
      await serve(flags)
    })
}

const helpAfter = `
A server of the Model Context Protocol on standard input and output: an assistant starts it, for example with
  { "mcpServers": { "skerry": { "command": "skerry", "args": ["mcp"] } } }
Each tool is one of these commands and works with the credential that they work with. Values are in no result, and masked in
what programs print, unless --allow-reveal is given and the tool is called with reveal.`
