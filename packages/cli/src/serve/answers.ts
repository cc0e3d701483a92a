import type { IncomingMessage, RequestListener } from 'node:http'
import { isLoopback } from '@skerry/contract/loopback'
import type { Resolved } from '@skerry/sdk'
import { describe, Failure, toFailure } from '../failure.ts'
import { isSecretName } from '../names.ts'
import { type Selection, select } from '../selection.ts'
import type { Bearer } from './bearer.ts'
import type { Source } from './source.ts'

/** The rules for the callers of a port. A socket needs none, because the system lets only its owner open it. */
interface Guard {
  bearer: Bearer
  /** The names, without a port, that a request may have in its Host header. */
  hosts: readonly string[]
  /** The port is on a loopback address, so that callers may use the names of this machine. */
  isLocal: boolean
}

interface Answering {
  source: Source
  selection: Selection
  guard: Guard | undefined
}

interface Answer {
  status: number
  body: object
  headers?: Record<string, string>
}

const pathMaxLength = 512
const everySecret = '/v1/secrets'

/**
 * Answers `GET /v1/secrets`, `GET /v1/secrets/<NAME>` and `GET /health`.
 *
 * Callers may delete what they have stored after a 404. So 404 stands only for a secret that does not exist in a fresh and
 * verified answer of the server, and for nothing else.
 */
export function answering(deps: Answering): RequestListener {
  return async (request, response) => {
    const { status, body, headers } = await answerTo(request, deps).catch(refusalOf)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
    response.end(JSON.stringify(body))
  }
}

async function answerTo(request: IncomingMessage, { source, selection, guard }: Answering): Promise<Answer> {
  const { method, url = '' } = request
  if (method !== 'GET') return refuse(405, 'invalid_request', 'use GET', { allow: 'GET', connection: 'close' })
  if (hasBody(request)) return refuse(413, 'invalid_request', 'send no body', { connection: 'close' })
  if (url === '/health') return health(source)
  const refused = guard && refuseCaller(request, guard)
  if (refused) return refused
  if (url.length > pathMaxLength) return refuse(414, 'invalid_request', 'the path is too long')
  if (url === everySecret) return answerAll(await source(), selection)
  const [, name] = /^\/v1\/secrets\/([^/?]+)$/.exec(url) ?? []
  if (name === undefined)
    return refuse(400, 'invalid_request', `ask for ${everySecret}/<NAME> or ${everySecret}, without a query`)
  if (!isSecretName(name))
    return refuse(
      400,
      'invalid_request',
      'the name of a secret has letters, digits and _, and does not start with a digit',
    )
  return answerOne(name, await source(), selection)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0

/** Tells whether secrets can be given out, and nothing about them: a probe of an orchestrator has no token. */
async function health(source: Source): Promise<Answer> {
  try {
    const { stale } = await source()
    return { status: 200, body: { status: stale ? 'stale' : 'ok' } }
  } catch {
    return { status: 503, body: { status: 'unavailable' } }
  }
}

/** A page in a browser reaches a port of this machine under a name of its own (DNS rebinding), so Host is checked, too. */
function refuseCaller({ headers }: IncomingMessage, { bearer, hosts, isLocal }: Guard): Answer | undefined {
  const [, host = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(headers.host ?? '') ?? []
  if (!hosts.includes(host.toLowerCase()) && !(isLocal && isLoopback(host)))
    return refuse(403, 'forbidden', 'the Host header has a name that `skerry serve --allow-host` does not list')
  if (bearer.isSentIn(headers.authorization)) return undefined
  const what = headers.authorization === undefined ? 'send the token' : 'this is not the token'
  return refuse(401, 'unauthorized', `${what} of \`skerry serve\` as "Authorization: Bearer <token>"`, {
    'www-authenticate': 'Bearer',
  })
}

const answerAll = (resolved: Resolved, selection: Selection): Answer => ({
  status: 200,
  body: Object.fromEntries(select(resolved, selection)),
  headers: ageOf(resolved),
})

function answerOne(name: string, resolved: Resolved, { only, except = [] }: Selection): Answer {
  if (except.includes(name) || (only && !only.includes(name)))
    return refuse(403, 'forbidden', `\`skerry serve\` was started without ${name} (--only, --except)`)
  const value = Object.hasOwn(resolved.values, name) ? resolved.values[name] : undefined
  if (value !== undefined) return { status: 200, body: { name, value }, headers: ageOf(resolved) }
  const reason = resolved.unexpanded.get(name)
  if (reason) throw new Failure('failure', `${name} has no value: ${reason.message}`)
  // The secret may have been created since the copy was made.
  if (resolved.stale)
    throw new Failure('unavailable', `the copy of the secrets has no ${name}, and the server cannot be reached`)
  return refuse(404, 'not_found', `there is no secret ${name}`)
}

/** The seconds since the server last confirmed the values. */
const ageOf = ({ ageSeconds }: Resolved) => ({ age: String(Math.round(ageSeconds)) })

const refuse = (status: number, code: string, message: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { error: { code, message } },
  headers,
})

/** An error of Skerry's server is 502: it refused, or its answer cannot be trusted. Without an answer it is 503. */
function refusalOf(error: unknown): Answer {
  const failure = toFailure(error)
  const message = describe(failure)
  if (failure.kind === 'unavailable') return refuse(503, 'unavailable', message, { 'retry-after': '5' })
  const { code } = error as { code?: unknown }
  return refuse(502, typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : 'bad_gateway', message)
}
