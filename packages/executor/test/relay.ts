import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** The connection from an executor to its server, which a test can cut. */
export interface Relay {
  url: string
  /** Whether a request to this path fails to reach the server. */
  isAway: (path: string) => boolean
}

/** @param to the address of the server */
export async function startRelay(to: string): Promise<Relay> {
  const relay: Relay = { url: '', isAway: () => false }
  const server = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming
    if (relay.isAway(url)) return void incoming.socket.destroy()
    const onward = request(new URL(url, to), { method, headers: { ...headers, host: new URL(to).host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return relay
}
