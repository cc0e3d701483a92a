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
  /** An object is sent as JSON. */
  body?: unknown
}

/** The form of a body that a service accepts. Every fake checks it first, as real services do. */
export interface FakeBodies {
  /** The media type of the body that this request may carry. Default: JSON. */
  contentType?(request: FakeRequest): string
  /** The largest body, in bytes. Default: 1 MiB. */
  bytesMax?: number
  /**
   * The refusal in the service’s own form. 400: the body does not match its type, 413: too large, 415: another type or
   * none.
   */
  refuse?(status: number, words: string): FakeAnswer
}

/** Starts an HTTP server on a free loopback port that answers with this function. */
export async function httpFake(
  answer: (request: FakeRequest) => FakeAnswer,
  bodies: FakeBodies = {},
): Promise<{ origin: string; stop(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const url = new URL(incoming.url ?? '/', 'http://fake')
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    const { status, headers, body } = bodyRefusal(request, bodies) ?? answer(request)
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

const jsonType = 'application/json'
const refuseAsError = (status: number, words: string): FakeAnswer => ({ status, body: { error: words } })

function bodyRefusal(request: FakeRequest, bodies: FakeBodies): FakeAnswer | null {
  const { refuse = refuseAsError, bytesMax = 1024 * 1024, contentType = () => jsonType } = bodies
  const { method, body, headers } = request
  if (body === '') return null
  if (method === 'GET' || method === 'HEAD') return refuse(400, `${method} takes no body`)
  if (Buffer.byteLength(body) > bytesMax) return refuse(413, 'the body is too large')
  const wanted = contentType(request)
  const given = headers['content-type']
  if (given?.split(';')[0]?.trim().toLowerCase() !== wanted) return refuse(415, `wrong type: ${given}`)
  return wanted.includes('json') && !isJson(body) ? refuse(400, 'the body is no JSON') : null
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** One endpoint of a service. */
export interface FakeRoute {
  method: string
  /** Matches the whole path. Its groups become the `params`. */
  path: RegExp
  /** The query parameters that it accepts. */
  query?: readonly string[]
  /** Returns what is wrong with the body. A route without this function accepts no body. */
  body?: (json: unknown) => string | null
  contentType?: string
  /** Whether the request changes something. A function decides by the body, if the path does not tell. */
  writes?: boolean | ((json: unknown) => boolean)
  answer(call: { params: string[]; query: URLSearchParams; json: unknown }): FakeAnswer
}

/** The checks of a service for every request, and its errors. */
export interface FakeRules {
  /** Headers that each request must carry, with exactly these values. */
  headers: Record<string, string>
  /** An error as the service shows it. 401: unknown credential, 404: missing, 429: too many, 422: cannot be stored. */
  refuse(status: number, words: string): FakeAnswer
  routes: FakeRoute[]
}

/** The faults that a test can put into a fake, as in `SyncFake`. */
export interface FakeControl {
  writes(): number
  fail(how: 'credential' | 'rate' | 'echo' | 'missing'): void
  /** From the next request on, refuses each write of the name. */
  refuse(name: string): void
  isRefused(name: string): boolean
  /** Answers this many writes, and then reports too many requests. */
  tire(after: number): void
  reset(): void
}

/** A strict service. It refuses unknown routes, query parameters and body fields, and requests that lack a header. */
export async function routedFake(
  rulesOf: (control: FakeControl) => FakeRules,
): Promise<FakeControl & { origin: string; stop(): Promise<void> }> {
  let writes = 0
  let failure: string | undefined
  let left = Number.POSITIVE_INFINITY
  const refused = new Set<string>()
  const control: FakeControl = {
    writes: () => writes,
    fail: (how) => {
      failure = how
    },
    refuse: (name) => refused.add(name),
    isRefused: (name) => refused.has(name),
    tire: (after) => {
      left = after
    },
    reset() {
      writes = 0
      failure = undefined
      left = Number.POSITIVE_INFINITY
      refused.clear()
    },
  }
  const rules = rulesOf(control)
  const routeOf = (request: FakeRequest) =>
    rules.routes.find(({ method, path }) => method === request.method && path.test(request.path))

  function answer(request: FakeRequest): FakeAnswer {
    const lacking = Object.entries(rules.headers).some(([name, value]) => request.headers[name] !== value)
    if (lacking || failure === 'credential') return rules.refuse(401, 'no such credential')
    if (failure === 'missing') return rules.refuse(404, 'not found')
    if (failure === 'rate') return rules.refuse(429, 'too many requests')
    const route = routeOf(request)
    if (route === undefined) return rules.refuse(404, `no route: ${request.method} ${request.path}`)
    for (const name of request.query.keys())
      if (!route.query?.includes(name)) return rules.refuse(400, `unknown query: ${name}`)
    const json = request.body === '' ? undefined : JSON.parse(request.body)
    if (typeof route.writes === 'function' ? route.writes(json) : route.writes) {
      writes++
      if (left-- <= 0) return rules.refuse(429, 'too many requests')
      if (failure === 'echo')
        return rules.refuse(422, `cannot store ${request.body} for ${JSON.stringify(request.headers)}`)
    }
    return strictly(route, rules, request, json)
  }

  const { origin, stop } = await httpFake(answer, {
    contentType: (request) => routeOf(request)?.contentType ?? jsonType,
    refuse: rules.refuse,
  })
  return { ...control, origin, stop }
}

function strictly(route: FakeRoute, rules: FakeRules, request: FakeRequest, json: unknown): FakeAnswer {
  const problem = route.body === undefined ? (json === undefined ? null : 'takes no body') : route.body(json)
  if (problem !== null) return rules.refuse(400, problem)
  const params = (route.path.exec(request.path) ?? []).slice(1).map((each) => decodeURIComponent(each))
  return route.answer({ params, query: request.query, json })
}

export const isText = (value: unknown): boolean => typeof value === 'string'
export const isFlag = (value: unknown): boolean => typeof value === 'boolean'
export const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

/**
 * Says what is wrong with an object that must have these fields and no others. Fields that end with `?` may be missing.
 *
 * @example fields({ name: isText, 'comment?': isText })
 */
export function fields(checks: Record<string, (value: unknown) => boolean>): (json: unknown) => string | null {
  return (json) => {
    if (json === null || typeof json !== 'object' || Array.isArray(json)) return 'no object'
    const given = json as Record<string, unknown>
    const known = Object.entries(checks).map(([name, check]) => ({
      name: name.replace('?', ''),
      needed: !name.endsWith('?'),
      check,
    }))
    for (const name of Object.keys(given))
      if (!known.some((field) => field.name === name)) return `unknown field: ${name}`
    for (const { name, needed, check } of known)
      if (given[name] === undefined ? needed : !check(given[name])) return `wrong field: ${name}`
    return null
  }
}

/** The same check for a part of a body. */
export const holds =
  (checks: Record<string, (value: unknown) => boolean>) =>
  (value: unknown): boolean =>
    fields(checks)(value) === null

export const mapOf =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value !== null && typeof value === 'object' && !Array.isArray(value) && Object.values(value).every(check)

export const listOf =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(check)
