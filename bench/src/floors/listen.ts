import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SecureContext } from 'node:tls'
import { openAuthority } from '@skerry/proxy/authority'

/** What a floor was told on its standard input. */
export const given = async <T>(): Promise<T> => JSON.parse(await text(process.stdin)) as T

/** A bare node:http server: no router, no checks, one handler. `/ready` says that it listens. */
export function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer((request, response) => {
    if (request.url === '/ready') return response.end()
    handle(request, response)
  })
  server.listen(Number(process.env.PORT), '127.0.0.1')
  process.on('SIGTERM', () => process.exit(0))
}

/** For `localhost`, of the authority in a folder, which the first that asks makes there. */
export async function loopbackCertificate(folder: string): Promise<SecureContext> {
  const authority = await openAuthority(join(folder, 'ca.pem'), join(folder, 'key.pem'))
  return authority.contextFor('localhost')
}

/** For the promise of a handler: a floor that fails ends, and with it the figure. */
export function abort(error: unknown): never {
  process.stderr.write(`floor: ${error instanceof Error ? error.stack : error}\n`)
  process.exit(1)
}
