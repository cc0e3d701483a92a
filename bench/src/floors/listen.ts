import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** The argument that a floor was started with. */
export const given = <T>(): T => JSON.parse(process.argv[2] as string) as T

/** A bare node:http server: no router, no checks, one handler. `/ready` says that it listens. */
export function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): void {
  const server = createServer((request, response) => {
    if (request.url === '/ready') return response.end()
    handle(request, response)
  })
  server.listen(Number(process.env.PORT), '127.0.0.1')
  process.on('SIGTERM', () => process.exit(0))
}

/** For the promise of a handler: a floor that fails ends, and with it the figure. */
export function abort(error: unknown): never {
  process.stderr.write(`floor: ${error instanceof Error ? error.stack : error}\n`)
  process.exit(1)
}
