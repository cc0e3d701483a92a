import type { Command } from 'commander'
import { common, explained } from '../options.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  explained(common(command), help)
    .option('--allow-reveal', 'allow tools to return values when they are asked to')
    .action(async (flags: Flags) => {
      const { serve } = await import('../mcp/serve.ts')
      await serve(flags)
    })
}

const help = `Your editor or assistant starts this server and talks to it over stdin and stdout:

  { "mcpServers": { "skerry": { "command": "skerry", "args": ["mcp"] } } }

Each tool is one of these commands and uses the same credential. No result contains a value, and values are masked in the output of programs, unless you give --allow-reveal and the tool is called with reveal.`
