import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { openOwnKey, type RememberingHolder } from './environment-key.ts'
import { RefusedError } from './errors.ts'
import {
  grantBatches,
  type MissingFilter,
  type MissingGrant,
  type ReadyGrant,
  type SentGrant,
  sendGrants,
  type WantedGrant,
  type WrapKeys,
} from './granting.ts'

// biome-ignore lint/performance/noBarrelFile: a page of the dashboard imports the list without cryptography.
export { listMissingGrants, type MissingFilter, type MissingGrant } from './granting.ts'

/**
 * The result for one missing key:
 *
 * - `done`: this client granted the key.
 * - `already`: the person already had the key, for example because another client granted it.
 * - `uncompared`: `isCompared` returned false, because nobody has compared the person's public key.
 * - `without_keyring`: the person has no key pair yet.
 * - `not_held`: you cannot grant the key, because you do not have it, or because your own access to the environment
 *   ends at a set time.
 * - `conflict`: the server refused the grant. `reason` says why.
 */
export type GrantOutcome = 'done' | 'already' | 'uncompared' | 'without_keyring' | 'not_held' | 'conflict'

/** The result of `grantMissing` for one missing key. */
export interface GrantedRow {
  missing: MissingGrant
  outcome: GrantOutcome
  /** For `conflict`, the reason why the server refused the grant. Null for all other outcomes. */
  reason: SentGrant<MissingGrant>['reason']
}

/** The settings of `grantMissing`. */
export interface GrantMissingSettings extends MissingFilter {
  orgId: string
  /**
   * Your private key. If it has a known state, the function compares the name and the key of each environment with the
   * name and the key that this client saw before.
   */
  holder: RememberingHolder
  /**
   * Returns true if somebody has compared the public key (`missing.publicKeyJwk`) with its owner. The public key comes
   * from the server, so a public key that nobody compared could belong to the server itself. If your function returns
   * false, the person does not get the missing key.
   */
  isCompared: (missing: ReadyGrant) => boolean | Promise<boolean>
  /**
   * True if you have already checked that the signed directory lists the people with their public keys. If false, and
   * if `holder.directory` has a pin or a memory, the function makes this check. If the directory does not list a
   * person, the function throws an error. Default: false.
   */
  areListed?: boolean
  /**
   * Called after each batch. `done` is the number of missing keys in the finished batches. `all` is the number of
   * missing keys in all batches.
   */
  onProgress?: (done: number, all: number) => void
  /** Called for each missing key that a person now has (`done` or `already`), with the environment key (32 bytes). */
  onGranted?: (missing: ReadyGrant, key: Uint8Array<ArrayBuffer>) => void | Promise<void>
  /**
   * If you abort this signal, the function throws the reason of the signal before the next batch. The keys of earlier
   * batches stay granted. To grant the rest, call the function again.
   */
  signal?: AbortSignal
}

/**
 * Grants missing keys: keys that people should have because of a team or an access plan, but do not have yet. The
 * function wraps each key on this machine, and only for public keys that somebody has compared. It stores the keys in
 * batches. If the call is interrupted, call the function again for the keys that are left. Two people can call the
 * function at the same time.
 *
 * @param missing the rows of `listMissingGrants` that you want to grant.
 * @returns a result for each row. The results are not in the order of `missing`.
 * @throws RollbackError if a name belongs to another environment than before, or an environment has another key than
 *   before; CryptoError `directory_…` if the signed directory does not list a person; DecryptionError; RefusedError;
 *   UnavailableError. The keys of earlier batches stay granted.
 * @example
 * const isCompared = ({ publicKeyJwk }: { publicKeyJwk: string }) => publicKeyJwk === remembered
 * const rows = await grantMissing(client, missing, { orgId, holder: privateKey, isCompared })
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
  let done = 0
  for (const batch of grantBatches(ready)) {
    signal?.throwIfAborted()
    rows.push(...(await grantBatch(client, batch, settings)))
    done += batch.length
    onProgress?.(done, ready.length)
  }
  return rows
}

async function sortOut(
  missing: MissingGrant,
  { isCompared }: GrantMissingSettings,
): Promise<{ ready: ReadyGrant } | { row: GrantedRow }> {
  const left = (outcome: GrantOutcome) => ({ row: { missing, outcome, reason: null } })
  const { publicKeyJwk } = missing
  if (publicKeyJwk === null) return left('without_keyring')
  const ready = { ...missing, publicKeyJwk }
  if (!(await isCompared(ready))) return left('uncompared')
  return missing.held ? { ready } : left('not_held')
}

async function grantBatch(
  client: Client,
  batch: readonly ReadyGrant[],
  { orgId, holder, areListed, onGranted }: GrantMissingSettings,
): Promise<GrantedRow[]> {
  const keys = new Map<string, OwnKey>()
  const wrap: WrapKeys = async (envId, receivers) => {
    const label = batch.find((one) => one.environmentId === envId)?.label
    const key = await openIfHeld(client, { orgId, envId }, forEnvironment(holder, label))
    if (!key) return null
    keys.set(envId, key)
    if (!areListed) await requireSigned(client, orgId, receivers, holder)
    const wrappedDeks = await Promise.all(receivers.map(({ publicKeyJwk }) => wrapKey(key.bytes, publicKeyJwk)))
    return { ownWrappedDek: key.wrappedDek, wrappedDeks }
  }
  const wanted = batch.map((one) => ({ ...one, direct: false }))
  const rows: GrantedRow[] = []
  for (const { wanted: missing, outcome, reason } of await sendGrants(client, orgId, wanted, wrap)) {
    const { direct: _, ...named } = missing
    rows.push({ missing: named, outcome, reason })
    const key = keys.get(missing.environmentId)
    if (key && (outcome === 'done' || outcome === 'already')) await onGranted?.(named, key.bytes)
  }
  return rows
}

/** Each row of a plan names its environment. A branch has no entry of its own, and its label has the branch. */
const forEnvironment = (holder: RememberingHolder, name: string | undefined): RememberingHolder =>
  holder.directory && name !== undefined ? { ...holder, directory: { ...holder.directory, name } } : holder

async function requireSigned(
  client: Client,
  orgId: string,
  receivers: readonly WantedGrant[],
  { directory }: RememberingHolder,
): Promise<void> {
  if (directory) await (await import('./directory/receivers.ts')).requireReceivers(client, orgId, receivers, directory)
}

type OwnKey = Awaited<ReturnType<typeof openOwnKey>>

/** Opens your key of an environment. Returns null if you lost it meanwhile. */
async function openIfHeld(
  client: Client,
  place: { orgId: string; envId: string },
  holder: RememberingHolder,
): Promise<OwnKey | null> {
  try {
    return await openOwnKey(client, place, holder)
  } catch (error) {
    if (error instanceof RefusedError && (error.code === 'forbidden' || error.code === 'not_found')) return null
    throw error
  }
}
