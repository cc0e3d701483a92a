import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SecureContext } from 'node:tls'
import { openAuthority } from '@skerry/proxy/authority'

/** Reads the parameters of a floor from its standard input. */
export const given = async <T>(): Promise<T> => JSON.parse(await text(process.stdin)) as T

/** Starts a bare node:http server: no router, no checks, one handler. `/ready` shows that it listens. */
export function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer((request, response) => {
    if (request.url === '/ready') return response.end()
    handle(request, response)
  })
  server.listen(Number(process.env.PORT), '127.0.0.1')
  process.on('SIGTERM', () => process.exit(0))
}

/** A certificate for `localhost`, signed by the authority in a folder. The first caller creates the authority. */
export async function loopbackCertificate(folder: string): Promise<SecureContext> {
  const authority = await openAuthority(join(folder, 'ca.pem'), join(folder, 'key.pem'))
  return authority.contextFor('localhost')
}

/** Ends the floor when a handler fails. The figure then fails too. */
export function abort(error: unknown): never {
  process.stderr.write(`floor: ${error instanceof Error ? error.stack : error}\n`)
  process.exit(1)
}
