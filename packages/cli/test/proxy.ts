import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy between the command and the server. It answers a request itself if `refuse` returns a status. With `hold` it
 * answers nothing, and with `stall` only the beginning.
 */
export interface Proxy {
  url: string
  close: () => Promise<void>
}

const refusals: Readonly<Record<number, { code: string; message: string }>> = {
  404: { code: 'not_found', message: 'no such path' },
  409: { code: 'conflict', message: 'refused by the test' },
}

export type Refuse = (method: string, path: string) => number | 'hold' | 'stall' | undefined

export async function openProxy(target: string, refuse: Refuse): Promise<Proxy> {
  const server: Server = createServer((incoming, answer) => {
    const status = refuse(incoming.method!, incoming.url!)
    if (status === 'hold') return incoming.resume()
    if (typeof status === 'number') {
      incoming.resume()
      answer.writeHead(status, { 'content-type': 'application/json' })
      return answer.end(
        JSON.stringify({ error: refusals[status] ?? { code: 'internal', message: 'refused by the test' } }),
      )
    }
    const { method, headers } = incoming
    const outgoing = request(new URL(incoming.url!, target), { method: method!, headers }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.headers)
      if (status === 'stall') reply.once('data', (chunk) => answer.write(chunk))
      else reply.pipe(answer)
    })
    // The server has to notice that a client hung up.
    answer.once('close', () => outgoing.destroy())
    outgoing.on('error', () => answer.destroy())
    return incoming.pipe(outgoing)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
}
