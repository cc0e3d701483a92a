import type { logSink } from '@skerry/contract/log-sink/endpoints'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { ServerKey } from '../../keys/server-key.ts'
import type { Entry } from '../audit/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { deliver } from './deliver.ts'
import { deleteSink, findSink, lockSink, type Sink, saveSink } from './store.ts'

export async function get({ db, org }: In<typeof logSink.get, InOrg>): Out<typeof logSink.get> {
  const sink = await findSink(db, org)
  return { logSink: sink ? toResponse(sink) : null }
}

export async function set(input: In<typeof logSink.set, InOrg>): Out<typeof logSink.set> {
  const { context, db, org, body, now, audit } = input
  checkEndpoint(body.endpoint)
  const serverKey = needKey(context)
  const before = await lockSink(db, org)
  const { enabled = true } = body
  const headers = body.headers && checkHeaders(body.headers)
  const kept = before ?? { headerNames: [], sealedHeaders: serverKey.seal('log-sink-headers', org.id, '{}') }
  const sealedHeaders = headers
    ? serverKey.seal('log-sink-headers', org.id, JSON.stringify(headers))
    : kept.sealedHeaders
  const headerNames = headers ? Object.keys(headers).toSorted() : kept.headerNames
  // Stored headers never follow an endpoint to another host. Otherwise someone who may change the endpoint could have
  // them sent to a host of their own.
  if (before && !headers && headerNames.length > 0 && hostOf(before.endpoint) !== hostOf(body.endpoint))
    throw fail('invalid_request', 'body.headers: are required when the endpoint moves to another host ({} for none)')
  await saveSink(db, org, { endpoint: body.endpoint, enabled, headerNames, sealedHeaders, now })
  audit('log_sink.updated', org.id, { endpoint: hostOf(body.endpoint), enabled, headerNames })
  return { logSink: toResponse((await findSink(db, org)) as Sink) }
}

export async function remove({ db, org, audit }: In<typeof logSink.delete, InOrg>): Out<typeof logSink.delete> {
  const removed = await deleteSink(db, org)
  if (!removed) throw noSink()
  audit('log_sink.deleted', org.id, { endpoint: hostOf(removed.endpoint) })
  return { ok: true }
}

export async function test(input: In<typeof logSink.test, InOrg>): Out<typeof logSink.test> {
  const { context, db, org, now, newId, origin, transaction } = input
  needKey(context)
  const sink = await findSink(db, org)
  if (!sink) throw noSink()
  const entry: Entry = {
    id: newId('audit'),
    action: 'log_sink.tested',
    actorType: origin.principal?.type ?? 'system',
    actorId: origin.principal?.id ?? null,
    resourceType: 'log_sink',
    resourceId: org.id,
    metadata: { test: true },
    ipAddress: null,
    userAgent: null,
    requestId: origin.requestId,
    createdAt: now,
  }
  const outcome = await deliver(context, sink, { entries: [entry], checkpoint: null })
  const { status } = outcome
  const error = outcome.kind === 'accepted' ? errorOf(outcome.rejected) : outcome.error
  await transaction(async ({ audit }) => {
    audit('log_sink.tested', org.id, { endpoint: hostOf(sink.endpoint), ok: error === null })
  })
  return { ok: error === null, status, error }
}

const errorOf = (rejected: number): string | null => (rejected === 0 ? null : 'took no record of it')

const noSink = () => fail('not_found', 'this organization has no log sink')

/** Returns the server key, which encrypts the headers. A server without a key cannot send anything. */
function needKey({ serverKey }: Context): ServerKey {
  if (serverKey === null) throw fail('conflict', 'this server has no server key')
  return serverKey
}

/** The audit log and mails show only the host, because the path may contain a secret. */
const hostOf = (endpoint: string): string => new URL(endpoint).host

/** Checks the form of the URL. Its address is checked at each delivery. */
function checkEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint)
  if (!url) throw fail('invalid_request', 'body.endpoint: is not a URL')
  if (url.username || url.password)
    throw fail('invalid_request', 'body.endpoint: has credentials in it; send them as a header')
  if (url.hash) throw fail('invalid_request', 'body.endpoint: has a fragment, which is never sent')
}

/** Headers that the connection or the format of the body sets. */
const ownHeaders = new Set(['host', 'connection', 'content-type', 'content-encoding', 'accept-encoding', 'user-agent'])
const ownConnectionHeaders = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade', 'te', 'trailer'])

function checkHeaders(given: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (ownHeaders.has(lower) || ownConnectionHeaders.has(lower))
      throw fail('invalid_request', `body.headers.${lower}: cannot be set`)
    if (Object.hasOwn(headers, lower)) throw fail('invalid_request', `body.headers.${lower}: is there twice`)
    headers[lower] = value
  }
  return headers
}

const toResponse = (sink: Sink) => ({
  endpoint: sink.endpoint,
  enabled: sink.enabled,
  headerNames: sink.headerNames,
  lastSuccessAt: sink.lastSuccessAt,
  lastAttemptAt: sink.lastAttemptAt,
  lastError: sink.lastError,
  position: sink.position,
  rejectedRecords: sink.rejected,
  waitingEntries: sink.waiting,
})
