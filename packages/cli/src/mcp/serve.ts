import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import manifest from '../../package.json' with { type: 'json' }
import type { Flags } from '../settings.ts'
import { options } from './fields.ts'
import { kmsTools } from './kms-tools.ts'
import { leaseTools } from './lease-tools.ts'
import { placeTools } from './place-tools.ts'
import { secretTools } from './secret-tools.ts'
import { tokenTools } from './token-tools.ts'

const tools = [...secretTools, ...placeTools, ...tokenTools, ...leaseTools, ...kmsTools]

/** Serves the tools on standard input and output, until the input ends. */
export async function serve({
  url,
  org,
  profile,
  allowReveal = false,
}: Flags & { allowReveal?: boolean }): Promise<void> {
  const server = new McpServer({ name: 'skerry', version: manifest.version }, { instructions })
  const host = { shared: options({ url, org, profile }), allowReveal }
  for (const { offer } of tools) offer(server, host)
  const closed = new Promise<void>((done) => {
    server.server.onclose = done
  })
  // Closing the server ends the open requests of a client that has gone.
  process.stdin.once('end', () => void server.close())
  await server.connect(new StdioServerTransport())
  await closed
}

const instructions =
  'Skerry keeps secrets encrypted; this machine decrypts them. Prefer run_command, which gives a program the secrets without showing them. ' +
  'Application and environment default to those of the project folder. No tool shows a value without reveal.'
