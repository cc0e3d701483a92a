import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeRequest {
  method: string
  /** Without the query. */
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
}

export interface FakeAnswer {
  status: number
  headers?: Record<string, string>
  /** An object goes out as JSON. */
  body?: unknown
}

/** An HTTP server on a free loopback port that answers as told. What it is not told of is a defect of the test. */
export async function httpFake(
  answer: (request: FakeRequest) => FakeAnswer,
): Promise<{ origin: string; stop(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const url = new URL(incoming.url ?? '/', 'http://fake')
    const { status, headers, body } = answer({
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    })
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
