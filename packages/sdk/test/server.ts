import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Endpoint } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { Value } from 'typebox/value'
import { onTestFinished } from 'vitest'

/** The input of a handler. A request that is invalid against the contract does not reach the handler. */
interface Asked {
  params: Record<string, string>
  query: Record<string, unknown>
  body: unknown
  headers: IncomingMessage['headers']
  response: ServerResponse
}

/** `json` is checked against the contract. `text` is for answers that an honest server never sends. */
export interface Reply {
  status?: number
  json?: unknown
  text?: string
  headers?: Record<string, string | undefined>
}

type Handler = (asked: Asked) => Reply | undefined | Promise<Reply | undefined>

export interface TestServer {
  baseUrl: string
  /** Every request, in order. `line` is for example `GET /v1/resolve?env=...`. */
  requests: { line: string; headers: IncomingMessage['headers']; body: unknown }[]
  /** Sets the handler of an operation, for example `apps.create`. */
  on(operation: string, handler: Handler): void
  /** Stops listening and cuts every connection. */
  close(): Promise<void>
}

const table = listEndpoints().map(({ heading, name, endpoint }) => ({
  operation: `${heading}.${name}`,
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/:([A-Za-z]+)/g, '(?<$1>[^/]+)')}$`),
}))

const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  text: JSON.stringify({ error: { code, message } }),
})

/** A server that speaks the contract strictly and knows one credential. It is closed when the test has finished. */
export async function startServer(authorization?: string): Promise<TestServer> {
  const handlers = new Map<string, Handler>()
  const requests: TestServer['requests'] = []

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<Reply | undefined> => {
    const url = new URL(request.url!, 'http://localhost')
    const body = parse(await read(request))
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
    const row = table.find(({ endpoint, pattern }) => endpoint.method === request.method && pattern.test(url.pathname))
    if (!row) return refusal(404, 'not_found', 'no such path')
    if (
      row.endpoint.surface !== 'none' &&
      authorization !== undefined &&
      request.headers.authorization !== authorization
    ) {
      return refusal(401, 'unauthorized', 'unknown service token')
    }
    const query = queryOf(url.searchParams, row.endpoint)
    if (!Value.Check(row.endpoint.query, query)) return refusal(400, 'invalid_request', 'query')
    if (!Value.Check(row.endpoint.body, body ?? {})) return refusal(400, 'invalid_request', 'body')
    const groups = row.pattern.exec(url.pathname)!.groups ?? {}
    const params = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]))
    const handler = handlers.get(row.operation)
    if (!handler) return refusal(500, 'internal', `no handler for ${row.operation}`)
    const reply = await handler({ params, query, body, headers: request.headers, response })
    return reply?.json === undefined ? reply : checked(reply, row.endpoint)
  }

  const server = createServer(async (request, response) => {
    const reply = await answer(request, response)
    if (!reply) return
    const text = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json))
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = () => {
    server.closeAllConnections()
    return new Promise<void>((done) => server.close(() => done()))
  }
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    close,
    on: (name, handler) => void handlers.set(name, handler),
  }
}

function checked(reply: Reply, endpoint: Endpoint): Reply {
  const schema = endpoint.responses[(reply.status ?? 200) as 200 | 201]
  if (schema && Value.Check(schema, reply.json)) return reply
  throw new Error(`not an answer of ${endpoint.method} ${endpoint.path}`)
}

/** Members of a query that may occur several times. */
const lists = new Set(['with', 'root', 'key'])

function queryOf(search: URLSearchParams, endpoint: Endpoint): Record<string, unknown> {
  const query = Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const all = search.getAll(name)
      return [name, lists.has(name) || all.length > 1 ? all : all[0]]
    }),
  )
  return Value.Convert(endpoint.query, query) as Record<string, unknown>
}

async function read(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text)
}
