import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Verdict, verdicts } from './approvals.ts'
import { readBody } from './body.ts'
import { durationSeconds } from './config/values.ts'
import { page, pageHeaders } from './control-page.ts'
import type { Core } from './core.ts'
import { refusalOf } from './handle.ts'
import { badRequest, Refusal } from './refusal.ts'

const bodyMaxBytes = 64 * 1024

/** A route of the control listener. `id` is the last part of the path if the row ends in a colon. */
type Answer = (core: Core, body: Record<string, unknown>, id: string) => unknown

const routes: Readonly<Record<string, Answer>> = {
  'GET /health': ({ sessions }) => ({ ok: true, tickets: sessions.count() }),
  'POST /session': mint,
  'POST /session/revoke': ({ sessions }, { ticket }) => {
    if (typeof ticket !== 'string') throw badRequest('ticket: must be text')
    return { revoked: sessions.revoke(ticket) }
  },
  'GET /approvals': ({ approvals }) => ({
    pending: (approvals?.pending() ?? []).map(({ expiresAt, ...held }) => ({
      ...held,
      expires_in_seconds: Math.max(0, Math.round((expiresAt - Date.now()) / 1000)),
    })),
  }),
  'POST /approvals/:': ({ approvals }, { decision }, id) => {
    const verdict = verdicts.find((one) => one === decision) as Verdict | undefined
    if (verdict === undefined) throw badRequest(`decision: must be one of ${verdicts.join(', ')}`)
    if (!approvals?.settle(id, verdict))
      throw new Refusal(404, 'not_found', 'this request no longer waits for a decision')
    return { decided: id, decision: verdict }
  },
}

function mint({ sessions }: Core, { agent, scopes, ttl, ...rest }: Record<string, unknown>): unknown {
  const [extra] = Object.keys(rest)
  if (extra !== undefined) throw badRequest('the body has an unknown field')
  if (agent !== undefined && typeof agent !== 'string') throw badRequest('agent: must be text')
  const isList = Array.isArray(scopes) && scopes.every((one): one is string => typeof one === 'string')
  if (scopes !== undefined && scopes !== null && !isList) throw badRequest('scopes: must be a list of text values')
  const ttlSeconds = ttl === undefined ? undefined : durationSeconds(ttl)
  if (ttl !== undefined && !ttlSeconds) throw badRequest('ttl: must be a duration, such as 15m')
  const made = sessions.mint({ agent, scopes: isList ? scopes : undefined, ttlSeconds })
  const { ticket, expiresInSeconds } = made
  return { ticket, agent: made.agent, expires_in_seconds: expiresInSeconds, header: 'x-seekrit-ticket' }
}

/**
 * The server that issues tickets and approves requests. Over TCP, everybody on the machine can connect, so every
 * request needs the token. A socket file belongs to the user who runs the proxy, and the system lets no other user
 * connect.
 *
 * @param token undefined if the server listens only on a socket file.
 */
export function controlServer(core: Core, token: string | undefined): Server {
  return createServer((request, response) => {
    answer(core, token, request).then(
      ({ status, type, body, headers }) => {
        response.writeHead(status, { ...headers, 'content-type': type, 'cache-control': 'no-store' })
        response.end(body)
      },
      (error) => refuse(response, refusalOf(error)),
    )
  })
}

async function answer(core: Core, token: string | undefined, request: IncomingMessage) {
  checkOrigin(request)
  const path = request.url!.split('?', 1)[0]!
  // The page contains no data. It requests its data with the token that a person types in.
  if (request.method === 'GET' && path === '/')
    return { status: 200, type: 'text/html; charset=utf-8', body: page, headers: pageHeaders }
  checkToken(request, token)
  const [, parent = '', id = ''] = /^(\/approvals\/)([^/]+)$/.exec(path) ?? []
  const route = `${request.method} ${parent === '' ? path : `${parent}:`}`
  const found = Object.hasOwn(routes, route) ? routes[route] : undefined
  if (!found) throw new Refusal(404, 'not_found', 'this path does not exist')
  const body = request.method === 'POST' ? parseBody(await readBody(request, bodyMaxBytes, 413)) : {}
  return { status: 200, type: 'application/json', body: JSON.stringify(found(core, body, id)), headers: {} }
}

/**
 * A page on any site could use a host name that resolves to this address. So only an address or `localhost` is
 * accepted.
 */
function checkOrigin({ headers }: IncomingMessage): void {
  const host = headers.host?.replace(/:\d+$/, '') ?? ''
  const isAddress = /^(?:localhost|[\d.]+|\[[0-9A-Fa-f:.]+\]|)$/.test(host)
  const isOwn = headers.origin === undefined || headers.origin === `http://${headers.host}`
  if (!isAddress || !isOwn)
    throw new Refusal(403, 'forbidden', 'send requests to the control listener by its IP address')
}

/** Compares digests, so that the time taken reveals neither content nor length. */
function checkToken({ headers }: IncomingMessage, token: string | undefined): void {
  if (token === undefined) return
  const given = headers['x-skerry-control-token'] ?? headers['x-seekrit-control-token']
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const isGood = typeof given === 'string' && given !== '' && timingSafeEqual(digest(given), digest(token))
  if (!isGood) throw new Refusal(401, 'unauthorized', 'the control token is missing or wrong')
}

function parseBody(bytes: Buffer): Record<string, unknown> {
  let body: unknown
  try {
    body = JSON.parse(bytes.length === 0 ? '{}' : bytes.toString('utf8'))
  } catch {
    throw badRequest('the body is not JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('the body is not an object')
  return body as Record<string, unknown>
}

function refuse(response: ServerResponse, { status, reason, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ error: { code: reason, message } }))
}
