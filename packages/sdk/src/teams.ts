import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { clientError, RefusedError } from './errors.ts'
import { pagesOf } from './pages.ts'
import { openOwnKey, type RememberingHolder } from './secrets.ts'

/** A key that a person shall have because of a team or a plan, and does not have yet. The server reports it. */
export type MissingGrant = Answer<typeof grants.missing>['missing'][number]

type Row = Answer<typeof grants.createMany>['results'][number]

/**
 * The result for one missing key:
 *
 * - `done`: this client granted it. `already`: somebody else did meanwhile.
 * - `uncompared`: nobody has compared the person's public key. `without_keyring`: the person has none yet.
 * - `not_held`: you do not hold the environment's key. `conflict`: the server refused it, with the reason.
 */
export type GrantOutcome = 'done' | 'already' | 'uncompared' | 'without_keyring' | 'not_held' | 'conflict'

export interface GrantedRow {
  missing: MissingGrant
  outcome: GrantOutcome
  /** Set for `conflict`. */
  reason: Row['reason']
}

/** Names the missing keys of one team or of one person. */
export interface MissingFilter {
  teamId?: string | undefined
  userId?: string | undefined
}

export interface GrantMissingSettings extends MissingFilter {
  orgId: string
  /** Your private key. If it remembers the known state, each label and each key is compared with what it was before. */
  holder: RememberingHolder
  /**
   * Returns true if a person has compared this public key with its owner. The server supplies the key, so a key that
   * nobody compared may be the server's own. It gets nothing.
   */
  isCompared: (missing: MissingGrant & { publicKeyJwk: string }) => boolean | Promise<boolean>
  /** Called after each batch with the numbers of rows that are done and that can be granted. */
  onProgress?: (done: number, all: number) => void
  /** Called for each key that the person has now, with the key (32 bytes). */
  onGranted?: (missing: MissingGrant & { publicKeyJwk: string }, key: Uint8Array<ArrayBuffer>) => void | Promise<void>
  /** Stops before the next batch. Run it again to grant the rest. */
  signal?: AbortSignal
}

/**
 * Lists the keys that people shall have because of a team or a plan, and do not have. Only admins may call it.
 *
 * @throws RefusedError `forbidden`, `old_server` if the server knows no teams, `malformed_answer` if a row belongs to another team
 *   or person than you asked for; UnavailableError.
 * @example const missing = await listMissingGrants(client, orgId, { teamId })
 */
export async function listMissingGrants(
  client: Client,
  orgId: string,
  { teamId, userId }: MissingFilter = {},
): Promise<MissingGrant[]> {
  const only = { ...(teamId === undefined ? {} : { teamId }), ...(userId === undefined ? {} : { userId }) }
  const all: MissingGrant[] = []
  const read = (page: object) => client.grants.missing({ params: { orgId }, query: { ...only, ...page } })
  for await (const { missing } of pagesOf(read)) {
    if (!missing.every((row) => isAskedFor(row, { teamId, userId })))
      throw clientError('malformed_answer', 'the server listed missing keys of another team or person')
    all.push(...missing)
  }
  return all
}

const isAskedFor = ({ teamIds, principalId }: MissingGrant, { teamId, userId }: MissingFilter) =>
  (teamId === undefined || teamIds.includes(teamId)) && (userId === undefined || principalId === userId)

/**
 * Grants the keys that teams and plans ask for. It wraps each key on this machine, and only to public keys that somebody
 * compared. It stores them in batches, so that an interrupted call loses at most one: call it again for the rest. Two people
 * may run it at the same time.
 *
 * @param missing the rows of `listMissingGrants` to grant, for example those that a person agreed to.
 * @throws RollbackError if a label names another environment than before, or an environment has another key;
 *   DecryptionError; RefusedError; UnavailableError. Batches that were stored before stay.
 * @example
 * const missing = await listMissingGrants(client, orgId)
 * const rows = await grantMissing(client, missing, { orgId, holder: privateKey, isCompared: () => true })
 */
export async function grantMissing(
  client: Client,
  missing: readonly MissingGrant[],
  settings: GrantMissingSettings,
): Promise<GrantedRow[]> {
  const { holder, orgId, onProgress, signal } = settings
  const named = missing.map(({ environmentId, label: name }) => ({ orgId, name, environmentId }))
  await holder.knownState?.check({ meanings: { environments: named } })
  const sorted = await Promise.all(missing.map((row) => sortOut(row, settings)))
  const ready = sorted.flatMap((one) => ('ready' in one ? [one.ready] : []))
  const rows = sorted.flatMap((one) => ('row' in one ? [one.row] : []))
  for (let at = 0; at < ready.length; at += limits.grantsAtOnceMax) {
    signal?.throwIfAborted()
    const batch = ready.slice(at, at + limits.grantsAtOnceMax)
    rows.push(...(await grantBatch(client, batch, settings)))
    onProgress?.(Math.min(at + batch.length, ready.length), ready.length)
  }
  return rows
}

type Ready = MissingGrant & { publicKeyJwk: string }

async function sortOut(
  missing: MissingGrant,
  { isCompared }: GrantMissingSettings,
): Promise<{ ready: Ready } | { row: GrantedRow }> {
  const left = (outcome: GrantOutcome) => ({ row: { missing, outcome, reason: null } })
  const { publicKeyJwk } = missing
  if (publicKeyJwk === null) return left('without_keyring')
  const ready = { ...missing, publicKeyJwk }
  if (!(await isCompared(ready))) return left('uncompared')
  return missing.held ? { ready } : left('not_held')
}

async function grantBatch(
  client: Client,
  batch: readonly Ready[],
  { orgId, holder, onGranted }: GrantMissingSettings,
): Promise<GrantedRow[]> {
  const keys = await openKeys(client, orgId, holder, batch)
  const rows: GrantedRow[] = []
  const open = batch.flatMap((missing) => {
    const key = keys.get(missing.environmentId)
    if (!key) rows.push({ missing, outcome: 'not_held', reason: null })
    return key ? [{ missing, key }] : []
  })
  if (open.length === 0) return rows
  const given = await Promise.all(
    open.map(async ({ missing: { environmentId, principalType, principalId, publicKeyJwk }, key }) => ({
      environmentId,
      principalType,
      principalId,
      publicKeyJwk,
      wrappedDek: await wrapKey(key.bytes, publicKeyJwk),
      ownWrappedDek: key.wrappedDek,
      direct: false,
    })),
  )
  const { results } = await client.grants.createMany({ params: { orgId }, body: { grants: given } })
  for (const [index, { missing, key }] of open.entries()) {
    const { result, reason } = resultOf(results, index, missing)
    rows.push({ missing, outcome: result, reason })
    if (result !== 'conflict') await onGranted?.(missing, key.bytes)
  }
  return rows
}

/** Returns the result of a row. A server that answers about another row is not believed. */
function resultOf(results: readonly Row[], index: number, { environmentId, principalId }: Ready): Row {
  const row = results[index]
  if (row?.environmentId === environmentId && row.principalId === principalId) return row
  throw clientError('malformed_answer', 'the server answered about other grants')
}

type OwnKey = Awaited<ReturnType<typeof openOwnKey>>

/** Opens the keys of the environments. An environment whose key you lost meanwhile is left out. */
async function openKeys(
  client: Client,
  orgId: string,
  holder: RememberingHolder,
  batch: readonly Ready[],
): Promise<Map<string, OwnKey>> {
  const keys = new Map<string, OwnKey>()
  for (const envId of new Set(batch.map(({ environmentId }) => environmentId))) {
    try {
      keys.set(envId, await openOwnKey(client, { orgId, envId }, holder))
    } catch (error) {
      if (!(error instanceof RefusedError && (error.code === 'forbidden' || error.code === 'not_found'))) throw error
    }
  }
  return keys
}
