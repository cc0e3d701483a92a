import { type AuditAction, auditActions } from '@skerry/contract/actions'
import type { Tx } from '../db/database.ts'
import { type Committed, type KernelContext, newAuditId } from './context.ts'
import type { Denial } from './errors.ts'
import type { AnyPrincipal } from './principal.ts'
import type { Counted } from './rate-limits.ts'

export type Metadata = Record<string, unknown>

/** The caller and their address, for every audit entry of a request, and the rate limit headers of its answer. */
export interface Origin extends Counted {
  principal: AnyPrincipal | null
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/** The origin of actions of the server itself, such as ending a branch. */
export const system: Origin = { principal: null, ipAddress: null, userAgent: null, requestId: null }

export interface Entry {
  orgId: string | null
  action: AuditAction
  resourceId: string | null
  metadata: Metadata
  /** Set if the actor is not the caller. For example, a sign-up creates its own machine client. */
  actor?: { type: string; id: string }
}

/**
 * Commits a change and its audit entries in one transaction. Afterwards this process evicts from its resolve cache the
 * answers that the audit actions make stale. On PostgreSQL every process also evicts by the rows that triggers have
 * written to the table `cache_invalidations`. Writes of secrets may share a statement instead
 * (features/secrets/batch.ts). Callers who watch the organization live hear of the entries.
 */
export async function transactWithAudit<T>(
  context: KernelContext,
  origin: Origin,
  work: (tx: Tx, record: (entry: Entry) => void) => Promise<T>,
): Promise<T> {
  // The lists start empty at each run, because the transaction may run again after a conflict.
  let entries: Entry[] = []
  let evictions: Eviction[] = []
  let committed: Committed[] = []
  const result = await context.db.transaction(async (tx) => {
    entries = []
    evictions = []
    const ofOthers: Committed[] = []
    withOwnOrigin.set(tx, ofOthers)
    const answer = await work(tx, (entry) => {
      evictions.push(...evictionsOf(entry))
      entries.push(entry)
    })
    // Nobody needs the result of the insert, so the statement is sent together with COMMIT.
    const own = entriesOf(context, origin, entries)
    if (own.length > 0) tx.later(insert, entryValues(origin, own))
    committed = [...own, ...ofOthers]
    return answer
  })
  for (const [orgId, environmentId] of evictions) context.evictions.evict(orgId, environmentId)
  context.announcements.announce(committed)
  return result
}

/** The entries of a transaction that `recordIn` added, to be announced when it is committed. */
const withOwnOrigin = new WeakMap<Tx, Committed[]>()

type Eviction = [orgId: string, environmentId: string | null]

function evictionsOf({ orgId, action, metadata }: Entry): Eviction[] {
  const { evicts } = auditActions[action]
  if (orgId === null || evicts === 'none') return []
  if (evicts === 'organization') return [[orgId, null]]
  if (typeof metadata.environmentId !== 'string') throw new Error(`${action} has to name its environment`)
  return [[orgId, metadata.environmentId]]
}

/**
 * Records an entry that evicts nothing, with its own origin, in a transaction of the caller. Callers who watch the
 * organization hear of it if `transactWithAudit` opened the transaction.
 */
export function recordIn(context: Pick<KernelContext, 'now'>, tx: Tx, origin: Origin, entry: Entry): void {
  const entries = entriesOf(context, origin, [entry])
  tx.later(insert, entryValues(origin, entries))
  withOwnOrigin.get(tx)?.push(...entries)
}

/** Records a denied request in a separate transaction, because the request itself was rolled back. */
export async function recordDenial(context: KernelContext, origin: Origin, denial: Denial): Promise<void> {
  await context.db.rows(insert, entryValues(origin, entriesOf(context, origin, [denial])))
}

/** The columns of `audit_entries`, for every statement that adds entries. */
export const entryColumns = `org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata, ip_address,
  user_agent, request_id, created_at`

const insert = `
  insert into audit_entries (${entryColumns})
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[],
                       array_fill($9::text, array[$13::int]), array_fill($10::text, array[$13::int]),
                       array_fill($11::text, array[$13::int]), array_fill($12::timestamptz, array[$13::int]))`

export const userAgentOf = ({ userAgent }: Origin): string | null => userAgent?.slice(0, 500) ?? null

function entriesOf(context: Pick<KernelContext, 'now'>, origin: Origin, entries: Entry[]): Committed[] {
  const caller = origin.principal
    ? { type: origin.principal.type, id: origin.principal.id }
    : { type: 'system', id: null }
  const now = context.now()
  return entries.map(({ orgId, action, resourceId, metadata, actor = caller }) => ({
    orgId,
    id: newAuditId(now),
    action,
    actorType: actor.type,
    actorId: actor.id,
    resourceType: auditActions[action].about,
    resourceId,
    metadata,
    createdAt: now.toISOString(),
  }))
}

function entryValues(origin: Origin, entries: Committed[]): unknown[] {
  return [
    entries.map(({ orgId }) => orgId),
    entries.map(({ id }) => id),
    entries.map(({ action }) => action),
    entries.map(({ actorType }) => actorType),
    entries.map(({ actorId }) => actorId),
    entries.map(({ resourceType }) => resourceType),
    entries.map(({ resourceId }) => resourceId),
    entries.map(({ metadata }) => JSON.stringify(metadata)),
    origin.ipAddress,
    userAgentOf(origin),
    origin.requestId,
    entries[0]?.createdAt,
    entries.length,
  ]
}
