import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { readBody } from '@skerry/proxy/body'
import type { Executor } from '../executor.ts'
import { fail, refusalOf, type VaultRefusal } from './refusal.ts'
import { isSame } from './same.ts'

/** The input of a route. */
export interface Call {
  /** The JSON object of a POST. Empty for other methods. */
  body: Record<string, unknown>
  url: URL
  response: ServerResponse
  /** Aborted when the caller disconnects. */
  signal: AbortSignal
}

/** JSON, a file of a page, an address to redirect to, or null if the handler has sent the response itself. */
type Answer =
  | { status: 200 | 201; body: object }
  | { file: Buffer; headers: Record<string, string> }
  | { location: string }
  | null

/**
 * Who may call a route. `backend`: callers with the executor's token. `page`: the Connect page, only from its origin.
 * `anyone`: pages of every origin. `visitor`: a browser that a provider or a link sends here.
 */
type Access = 'backend' | 'page' | 'anyone' | 'visitor'

export interface Route {
  access: Access
  handle: (executor: Executor, call: Call) => Answer | Promise<Answer>
}

export const answer = (body: object, status: 200 | 201 = 200): Answer => ({ status, body })

const bodyMaxBytes = 8 * 1024 * 1024

/** @param routes by method and path */
export function executorServer(executor: Executor, routes: Readonly<Record<string, Route>>): Server {
  return createServer((request, response) => {
    serve(executor, routes, request, response).catch((error) => {
      const refusal = refusalOf(error)
      if (refusal.code === 'internal') executor.warn(`internal: ${error instanceof Error ? error.name : 'unknown'}`)
      refuse(request, response, refusal)
    })
  })
}

async function serve(
  executor: Executor,
  routes: Readonly<Record<string, Route>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = URL.parse(request.url ?? '', executor.origin)
  const asked = (method: string) => {
    const key = `${method} ${url?.pathname}`
    return Object.hasOwn(routes, key) ? routes[key] : undefined
  }
  if (request.method === 'OPTIONS') return preflight(executor, asked('POST') ?? asked('GET'), request, response)
  const route = asked(request.method ?? '')
  if (!url || !route) throw fail('not_found', 'this path does not exist')
  checks[route.access](executor, request, response)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const body = request.method === 'POST' ? parse(await readBody(request, bodyMaxBytes, 413)) : {}
  const found = await route.handle(executor, { body, url, response, signal: gone.signal })
  if (found === null) return
  if ('file' in found) response.writeHead(200, { ...always, ...found.headers }).end(found.file)
  else if ('location' in found) response.writeHead(303, { location: found.location, ...always }).end()
  else
    response.writeHead(found.status, { 'content-type': 'application/json', ...always }).end(JSON.stringify(found.body))
}

const always = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' }

const checks: Readonly<
  Record<Access, (executor: Executor, request: IncomingMessage, response: ServerResponse) => void>
> = {
  backend: checkBackend,
  page({ connectOrigin }, { headers }, response) {
    if (headers.origin !== connectOrigin) throw fail('not_allowed', 'only the Connect page may call this')
    response.setHeader('access-control-allow-origin', connectOrigin).setHeader('vary', 'origin')
  },
  anyone(_, __, response) {
    response.setHeader('access-control-allow-origin', '*')
  },
  visitor() {},
}

export function checkBackend({ token }: Executor, { headers }: IncomingMessage): void {
  const given = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
  if (given === undefined || !isSame(given, token))
    throw fail('unauthorized', 'the token of the executor is missing or wrong')
}

/** Answers the CORS preflight that a browser sends before JSON for another origin. */
function preflight(
  executor: Executor,
  route: Route | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (route?.access !== 'page' && route?.access !== 'anyone') throw fail('not_found', 'this path does not exist')
  checks[route.access](executor, request, response)
  response.writeHead(204, { 'access-control-allow-headers': 'content-type', 'access-control-max-age': '600' }).end()
}

function parse(bytes: Buffer): Record<string, unknown> {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8'))
  } catch {
    // Refused below, because the message of the parser would quote the body.
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('invalid_request', 'the body must be a JSON object')
  return body as Record<string, unknown>
}

/** Sends a refusal. If the caller is still sending, the connection ends with the refusal. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: VaultRefusal): void {
  if (response.headersSent) return void response.destroy()
  const { code, message, status, headers } = refusal
  const own = request.complete ? {} : { connection: 'close' }
  // The status text is set too, because a failed answer may have left its own text.
  response.writeHead(status, STATUS_CODES[status], {
    'content-type': 'application/json',
    ...headers,
    ...always,
    ...own,
  })
  response.end(JSON.stringify({ error: { code, message } }))
}
