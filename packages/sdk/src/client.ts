import type { Answer, Body, Endpoint, Operation, Params, Query } from '@skerry/contract/endpoint'
import type { endpoints } from '@skerry/contract/endpoints'
import { operations } from '@skerry/contract/operations.gen'
import { parseBaseUrl } from './base-url.ts'
import { clientError, invalid } from './errors.ts'
import { checkHeaders, type Fetch, type Incoming, openBody, send, type TransportSettings } from './transport.ts'

/**
 * The credential of a client: the bearer of a service token, a CLI session, a browser session or a machine client. For
 * a machine client, you can also give its client id and client secret, which the SDK sends with HTTP Basic.
 */
export type Credential = { bearer: string } | { clientId: string; clientSecret: string }

export interface ClientSettings {
  /**
   * The address of the server, for example `https://skerry.example.com`. With `http:`, only a server on this machine is
   * allowed, unless `allowInsecure` is true.
   */
  baseUrl: string
  /**
   * The credential that the client sends with every request. Without a credential, you can call only public endpoints.
   */
  credential?: Credential
  /** The function that sends requests. Default: `globalThis.fetch`. */
  fetch?: Fetch
  /**
   * The name of the program. The client sends it in the header `x-skerry-client` and, if the platform allows it, in
   * `user-agent`.
   */
  userAgent?: string
  /** The time limit for one attempt, from its start to the last byte of the response. Default: 30 s. */
  timeoutMs?: number
  /** Headers for every request. If `credential` is set, the client ignores a header `authorization` here. */
  headers?: Record<string, string>
  /**
   * If true, `http:` is also allowed for a server on another machine. Everyone on the network between client
   * and server can then read the credential. Default: false.
   */
  allowInsecure?: boolean
  /**
   * The client sends a request at most `attempts` times (default: 3). `createClient` says which requests it repeats.
   * The wait before the second attempt is at most `backoffMs` (default: 200), and doubles for each further attempt. If
   * the server asks for a longer wait than `retryAfterMaxMs` (default: 10,000), the client throws the error at once.
   */
  retry?: { attempts?: number; backoffMs?: number; retryAfterMaxMs?: number }
  /** The maximum length of a response. For a longer response, the client throws an error. Default: 64 MiB. */
  answerMaxBytes?: number
}

/**
 * The input of an endpoint: `params`, `query` and `body`. An endpoint may have only some of these three. A part is
 * required if one of its members is required.
 */
export type Input<E extends Endpoint> = Part<'params', Params<E>> & Part<'query', Query<E>> & Part<'body', Body<E>>

type Part<K extends string, T> = [keyof T] extends [never]
  ? { [P in K]?: undefined }
  : Record<never, never> extends T
    ? { [P in K]?: T }
    : { [P in K]: T }

export interface RequestOptions {
  signal?: AbortSignal
  headers?: Record<string, string>
  /**
   * The names that the user typed for the ids in the request. Only a client that signs changes of the signed directory
   * uses the names: with them, it checks that it signs the objects that the user meant. The client does not send the
   * names to the server.
   */
  typed?: TypedNames | undefined
}

/**
 * The names that a user typed, or chose in a list, for the ids in a request. The ids come from the server, so a hostile
 * server could give the id of another object. A client that has the name of the right object can notice this.
 */
export interface TypedNames {
  /** The slug of the application or of the group. */
  owner?: string | undefined
  /** The e-mail address of a person or the name of a token. */
  holder?: string | undefined
  /** The id of the person or token that loses a grant, or of the decoy that you delete. */
  holderId?: string | undefined
  /**
   * The name or the slug of the environment that you delete: `shop/staging` or `staging`. The name of a branch contains
   * an `@`.
   */
  environment?: string | undefined
  /** The name of the managed key, a key for encryption or signing that Skerry stores. */
  managedKey?: string | undefined
  /**
   * The id of a sync connection, with which the server pushes secrets to another service. Give this id if the client
   * has wrapped keys for the connection. Also give it if you delete a binding of the connection (settings that say
   * which secrets go where).
   */
  connectionId?: string | undefined
  /** When you remove a person: the ids of the tokens that the server revokes, as the client showed them to the user. */
  endedTokens?: readonly string[] | undefined
  /**
   * The groups of an environment in the order that the user has seen. The group with the lowest precedence is first.
   */
  groups?: readonly string[] | undefined
}

/** A response of the server. */
export interface Received<A> {
  /** The HTTP status. */
  status: 200 | 201 | 202
  /** The parsed body. */
  body: A
  /** The body as the server sent it. */
  text: string
  /**
   * The ETag of the response, or null if the response has none. Pass it as `etag` to the next `request`: if nothing has
   * changed since then, the server answers 304.
   */
  etag: string | null
  /** The id of the request, with which the operator can search the log of the server. Null if the server sent none. */
  requestId: string | null
}

/** The response to a request with `etag`, if nothing has changed since the response that had this ETag. */
export interface NotModified {
  status: 304
  etag: string | null
  requestId: string | null
}

type Arguments<E extends Endpoint, O> =
  Record<never, never> extends Input<E> ? [input?: Input<E>, options?: O] : [input: Input<E>, options?: O]

/** A function that sends one request of the API. Its promise resolves with the body of the response. */
export type Call<E extends Endpoint> = (...args: Arguments<E, RequestOptions>) => Promise<Answer<E>>

type Endpoints = typeof endpoints
type EndpointAt<H extends keyof Endpoints, N extends keyof Endpoints[H]> = Extract<Endpoints[H][N], Endpoint>

type Calls<H extends keyof Endpoints> = { readonly [N in keyof Endpoints[H]]: Call<EndpointAt<H, N>> }

/**
 * All endpoints of the API, grouped as in the API reference: `client.apps.list(...)`. `request` also returns the status
 * and the ETag of the response. `stream` returns the bytes of a long response piece by piece.
 */
export type Client = { readonly [H in keyof Endpoints]: Calls<H> } & Streaming & {
    readonly baseUrl: string
    /**
     * Sends one request and returns status, ETag and body. With `etag`, the server answers 304 if nothing has changed.
     * An older server may not have the endpoint. The client then asks for the version of the server, and throws
     * SkerryError `old_server`. With `isOptional`, the client does not ask, and throws the error that the server sent.
     *
     * @example
     * const { etag } = await client.request('resolve', 'get', { query: {} })
     * const next = await client.request('resolve', 'get', { query: {} }, { etag: etag ?? undefined })
     * if (next.status !== 304) console.log(next.body.layers.length)
     */
    request<H extends keyof Endpoints, N extends keyof Endpoints[H]>(
      heading: H,
      name: N,
      input: Input<EndpointAt<H, N>>,
      options?: RequestOptions & { etag?: string | undefined; isOptional?: boolean | undefined },
    ): Promise<Received<Answer<EndpointAt<H, N>>> | NotModified>
  }

interface Streaming {
  /**
   * Sends a request whose response is too long for the memory, and returns the bytes of the response piece by piece.
   * The client does not repeat the request after an error.
   *
   * @throws The errors of all functions of the client. While you read the pieces: UnavailableError if the response
   *   breaks off.
   * @example for await (const piece of await client.stream('exporting', 'create', { params: { orgId } })) await out.write(piece)
   */
  stream<H extends keyof Endpoints, N extends keyof Endpoints[H]>(
    heading: H,
    name: N,
    input: Input<EndpointAt<H, N>>,
    options?: RequestOptions,
  ): Promise<AsyncGenerator<Uint8Array>>
}

/**
 * Creates a client with a typed function for every endpoint of the API.
 *
 * - The client encodes path parameters. For an array in the query, the client repeats the parameter. It leaves out
 *   members of the input that are undefined.
 * - After 429, the client repeats any request, unless `Retry-After` asks for a longer wait than `retryAfterMaxMs`.
 *   After 502, 503 or a network failure, the client repeats only a GET. It does not repeat another request, because the
 *   server may already have made the change.
 * - The client does not follow redirects, because a redirect could send the credential to another server.
 *
 * @throws SkerryError `invalid_request` if a setting is wrong. The functions of the client throw UnavailableError,
 *   RefusedError, SkerryError `malformed_answer`, or the abort reason of the `signal`.
 * @example
 * const client = createClient({ baseUrl: 'https://skerry.example.com', credential: { bearer } })
 * const { app } = await client.apps.create({ params: { orgId }, body: { name: 'Web', slug: 'web' } })
 */
export function createClient(settings: ClientSettings): Client {
  const headers = headersOf(settings)
  const transport = transportOf(settings)

  const outgoingOf = ({ method, path }: Operation, input: LooseInput, options: LooseOptions) => {
    const outgoing = {
      method,
      path: pathOf(path, input.params ?? {}) + queryOf(input.query ?? {}),
      headers: {
        ...lowerCase(options.headers),
        ...(options.etag === undefined ? {} : { 'if-none-match': options.etag }),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }
    checkHeaders(outgoing.headers)
    return outgoing
  }
  const explained = (operation: Operation, isOptional?: boolean) => async (error: unknown) => {
    if (isOptional || (error as { status?: unknown }).status !== 404) throw error
    // Imported only when needed, because almost no client ever needs it.
    const { explainUnknownPath } = await import('./old-server.ts')
    throw await explainUnknownPath(error, transport, operation)
  }
  const perform = async (operation: Operation, input: LooseInput = {}, options: LooseOptions = {}) => {
    const incoming = await send(transport, outgoingOf(operation, input, options)).catch(
      explained(operation, options.isOptional),
    )
    const { status, etag, requestId } = incoming
    if (status !== 304) return { status, etag, requestId, text: incoming.text, body: parseBody(incoming) }
    if (options.etag === undefined)
      throw clientError('malformed_answer', 'it is 304 Not Modified, but the request had no condition')
    return { status, etag, requestId }
  }

  const headings = Object.entries(operations).map(([heading, table]) => {
    const calls = Object.entries(table).map(([name, operation]) => {
      const call = async (input?: LooseInput, { signal, headers }: LooseOptions = {}) => {
        const received = await perform(operation, input, { signal, headers })
        return 'body' in received ? received.body : undefined
      }
      return [name, call]
    })
    return [heading, Object.freeze(Object.fromEntries(calls))]
  })
  const request = (heading: string, name: string, input: LooseInput, options?: LooseOptions) =>
    perform(lookUp(heading, name), input, options)
  const stream = async (heading: string, name: string, input: LooseInput, options: LooseOptions = {}) => {
    const operation = lookUp(heading, name)
    return openBody(transport, outgoingOf(operation, input, options)).catch(explained(operation))
  }
  return Object.freeze({ ...Object.fromEntries(headings), baseUrl: transport.baseUrl, request, stream }) as Client
}

function lookUp(heading: string, name: string): Operation {
  const table: Record<string, Record<string, Operation>> = operations
  const operation = table[heading]?.[name]
  if (!operation) throw invalid(`${heading}.${name}: there is no such operation`)
  return operation
}

interface LooseInput {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

interface LooseOptions {
  signal?: AbortSignal | undefined
  headers?: Record<string, string> | undefined
  etag?: string | undefined
  isOptional?: boolean | undefined
}

function transportOf(settings: ClientSettings): TransportSettings {
  const { credential } = settings
  const secrets = credential ? ['bearer' in credential ? credential.bearer : credential.clientSecret] : []
  return {
    baseUrl: parseBaseUrl(settings.baseUrl, { allowInsecure: settings.allowInsecure ?? false }),
    // Browsers refuse a `fetch` that is called on anything but its own global.
    fetch: settings.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: settings.timeoutMs ?? 30_000,
    attempts: settings.retry?.attempts ?? 3,
    backoffMs: settings.retry?.backoffMs ?? 200,
    retryAfterMaxMs: settings.retry?.retryAfterMaxMs ?? 10_000,
    answerMaxBytes: settings.answerMaxBytes ?? 64 * 1024 * 1024,
    secrets,
  }
}

function headersOf({ credential, headers, userAgent = 'skerry-sdk' }: ClientSettings): Record<string, string> {
  const all = {
    ...lowerCase(headers),
    accept: 'application/json',
    'user-agent': userAgent,
    'x-skerry-client': userAgent,
    ...(credential ? { authorization: authorizationOf(credential) } : {}),
  }
  checkHeaders(all)
  return all
}

/** Lowercases header names. Otherwise two spellings of one name would be sent as one header with both values. */
function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Builds the Authorization header. It refuses characters that would end the credential early or break the header. The
 * messages do not repeat the credential.
 */
function authorizationOf(credential: Credential): string {
  if ('bearer' in credential) {
    if (!/^[A-Za-z0-9._~+/=-]+$/.test(credential.bearer))
      throw invalid('credential: the bearer contains a character that RFC 6750 does not allow')
    return `Bearer ${credential.bearer}`
  }
  const { clientId, clientSecret } = credential
  if (!/^[\x21-\x39\x3b-\x7e]+$/.test(clientId) || !/^[\x21-\x7e]+$/.test(clientSecret)) {
    throw invalid('credential: expected clientId and clientSecret')
  }
  return `Basic ${btoa(`${clientId}:${clientSecret}`)}`
}

/**
 * Fills in the path parameters. URL parsers treat `.` and `..` as steps in the path, even when encoded. They are
 * refused, because they could reach another endpoint.
 */
function pathOf(path: string, params: Record<string, string>): string {
  return path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || !value.isWellFormed()) {
      throw invalid(`${name}: must be one path segment`)
    }
    return encodeURIComponent(value)
  })
}

function queryOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one))
  }
  return search.size === 0 ? '' : `?${search}`
}

function parseBody({ status, text, requestId }: Incoming): unknown {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // The parser's message may quote the body, so the error below replaces it.
  }
  throw clientError('malformed_answer', 'it is not a JSON object', { status, requestId })
}
