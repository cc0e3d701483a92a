import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'

/** A request that a provider's API received. */
interface Got {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export interface Upstream {
  host: string
  origin: string
  got: Got[]
  /** How it answers. By default, it repeats the request. */
  answers: (got: Got, response: ServerResponse) => void
}

export async function startUpstream(): Promise<Upstream> {
  const upstream = { got: [] as Got[], answers: repeat } as Upstream
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { method = '', url = '', headers } = request
    const got = { method, url, headers, body }
    upstream.got.push(got)
    upstream.answers(got, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  upstream.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  upstream.origin = `http://${upstream.host}`
  return upstream
}

export const repeat: Upstream['answers'] = (got, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(got))
}
