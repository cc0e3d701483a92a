import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import type { Client } from './client.ts'
import { clientError } from './errors.ts'
import { pagesOf } from './pages.ts'

// Grants of several keys. This file has no private key: a caller opens and wraps each key, for example in the worker of a
// browser. So a page can import it without cryptography.

/**
 * A missing key: the key of an environment that a person should have, but does not have yet. The reason is a team, or
 * an access plan that an admin made. The server reports missing keys.
 */
export type MissingGrant = Answer<typeof grants.missing>['missing'][number]

/** A missing key of a person who has a key pair. `publicKeyJwk` is the public key of the person. */
export type ReadyGrant = MissingGrant & { publicKeyJwk: string }

/** The result of the server for one grant. */
type Row = Answer<typeof grants.createMany>['results'][number]

/** A key to grant to a principal. */
export interface WantedGrant {
  environmentId: string
  principalType: 'user' | 'service_token'
  principalId: string
  /** The public key that somebody compared. If the server has another one, it refuses the grant. */
  publicKeyJwk: string
  /** False if the grant ends with the team or the plan that asks for it. */
  direct: boolean
}

/** Your wrapped key as the server stores it, and the key wrapped to each receiver, in order. */
interface WrappedKeys {
  ownWrappedDek: string
  wrappedDeks: readonly string[]
}

/** Opens an environment's key and wraps it to the receivers. Returns null if you do not hold the key. */
export type WrapKeys<W extends WantedGrant = WantedGrant> = (
  environmentId: string,
  receivers: readonly W[],
) => Promise<WrappedKeys | null>

/** The result for one key: see `GrantOutcome`. */
export interface SentGrant<W> {
  /** The key that the caller wanted to grant. */
  wanted: W
  outcome: Row['result'] | 'not_held'
  /** For `conflict`, the reason why the server refused the grant. Null for all other outcomes. */
  reason: Row['reason']
}

/** Limits a list of missing keys. If you set no field, the list has the missing keys of all people. */
export interface MissingFilter {
  /** The id of a team: only keys that people should have because of this team. */
  teamId?: string | undefined
  /** The id of a person: only keys that this person should have. */
  userId?: string | undefined
}

/**
 * Lists missing keys: keys that people should have because of a team or an access plan, but do not have yet. An access
 * plan is a list, made by an admin, of environments whose keys one person should get. If the caller is not an admin,
 * the list has only the caller's own missing keys.
 *
 * @throws RefusedError `forbidden`; SkerryError `old_server` if the server has no teams, `malformed_answer` if a row
 *   belongs to another team or person than you asked for; UnavailableError.
 * @example const missing = await listMissingGrants(client, orgId, { teamId })
 */
export async function listMissingGrants(
  client: Client,
  orgId: string,
  filter: MissingFilter = {},
): Promise<MissingGrant[]> {
  const all: MissingGrant[] = []
  for await (const { missing } of missingPages(client, orgId, filter)) all.push(...missing)
  return all
}

/**
 * Lists the first missing keys, for a page that must not wait for all of a large organization.
 *
 * @throws the errors of `listMissingGrants`.
 * @example const { missing, hasMore } = await listFirstMissing(client, orgId, { teamId })
 */
export async function listFirstMissing(
  client: Client,
  orgId: string,
  filter: MissingFilter = {},
): Promise<{ missing: MissingGrant[]; hasMore: boolean }> {
  for await (const { missing, nextCursor } of missingPages(client, orgId, filter, limits.listMax))
    return { missing, hasMore: nextCursor !== null }
  return { missing: [], hasMore: false }
}

async function* missingPages(
  client: Client,
  orgId: string,
  { teamId, userId }: MissingFilter,
  limit: number = limits.missingGrantsDefault,
): AsyncGenerator<Answer<typeof grants.missing>> {
  const only = { ...(teamId === undefined ? {} : { teamId }), ...(userId === undefined ? {} : { userId }), limit }
  const read = (page: object) => client.grants.missing({ params: { orgId }, query: { ...only, ...page } })
  for await (const page of pagesOf(read)) {
    if (!page.missing.every((row) => isAskedFor(row, { teamId, userId })))
      throw clientError('malformed_answer', 'the server listed missing keys of another team or person')
    yield page
  }
}

const isAskedFor = ({ teamIds, principalId }: MissingGrant, { teamId, userId }: MissingFilter) =>
  (teamId === undefined || teamIds.includes(teamId)) && (userId === undefined || principalId === userId)

/**
 * Plans environments for a person, or takes them out of the plan. An admin who has their keys grants them later.
 * Returns the planned environments whose key is missing.
 *
 * @throws RefusedError `forbidden`, `not_found` for an environment or a person that is not there, `old_server` if the
 *   server cannot read a plan; UnavailableError.
 * @example const planned = await changePlan(client, orgId, userId, { add: [envId] })
 */
export async function changePlan(
  client: Client,
  orgId: string,
  userId: string,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): Promise<string[]> {
  const params = { orgId, userId }
  const before = (await client.grants.planned({ params })).environmentIds
  const gone = new Set(remove)
  const environmentIds = [...new Set([...before, ...add])].filter((id) => !gone.has(id))
  // The plan is replaced as a whole, so it keeps what was planned before.
  return (await client.grants.plan({ params, body: { environmentIds } })).environmentIds
}

/**
 * Grants keys in one request, at most `limits.grantsAtOnceMax`. Wraps the key of each environment once for all of its
 * receivers.
 *
 * @throws RefusedError `malformed_answer` if the server answers about other grants; the errors of `wrap`;
 *   UnavailableError.
 * @example
 * const wanted: WantedGrant[] = [{ environmentId: envId, principalType: 'user', principalId, publicKeyJwk, direct: true }]
 * const lost: WrapKeys = async () => null // or your wrapped key with the key wrapped to each receiver
 * const sent = await sendGrants(client, orgId, wanted, lost)
 */
export async function sendGrants<W extends WantedGrant>(
  client: Client,
  orgId: string,
  wanted: readonly W[],
  wrap: WrapKeys<W>,
): Promise<SentGrant<W>[]> {
  const sent: SentGrant<W>[] = []
  const open: { one: W; body: WantedGrant & { wrappedDek: string; ownWrappedDek: string } }[] = []
  for (const [environmentId, receivers] of Map.groupBy(wanted, (one) => one.environmentId)) {
    const keys = await wrap(environmentId, receivers)
    for (const [i, one] of receivers.entries()) {
      const wrappedDek = keys?.wrappedDeks[i]
      if (!keys || wrappedDek === undefined) sent.push({ wanted: one, outcome: 'not_held', reason: null })
      else open.push({ one, body: { ...bodyOf(one), wrappedDek, ownWrappedDek: keys.ownWrappedDek } })
    }
  }
  if (open.length === 0) return sent
  const body = { grants: open.map((one) => one.body) }
  const { results } = await client.grants.createMany({ params: { orgId }, body })
  for (const [i, { one }] of open.entries()) {
    const { result, reason } = resultOf(results[i], one)
    sent.push({ wanted: one, outcome: result, reason })
  }
  return sent
}

const bodyOf = ({ environmentId, principalType, principalId, publicKeyJwk, direct }: WantedGrant): WantedGrant => ({
  environmentId,
  principalType,
  principalId,
  publicKeyJwk,
  direct,
})

/** Returns the result of a row. A server that answers about another row is not believed. */
function resultOf(row: Row | undefined, { environmentId, principalId }: WantedGrant): Row {
  if (row?.environmentId === environmentId && row.principalId === principalId) return row
  throw clientError('malformed_answer', 'the server answered about other grants')
}

/**
 * Cuts a list of grants into requests.
 *
 * @example grantBatches(Array.from({ length: 130 }, (_, i) => i)) // two lists, of 100 and 30
 */
export const grantBatches = <W>(wanted: readonly W[]): W[][] =>
  Array.from({ length: Math.ceil(wanted.length / limits.grantsAtOnceMax) }, (_, i) =>
    wanted.slice(i * limits.grantsAtOnceMax, (i + 1) * limits.grantsAtOnceMax),
  )
