import { UnavailableError } from '@skerry/sdk/errors'
import { isSecretChange } from '@skerry/sdk/secret-change'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import type { Written } from './changes.ts'
import { reloadSealed } from './queries.ts'

// A write may reach the server while its answer gets lost. If it were sent again, a protected environment would queue
// it twice. So its ciphertext is kept here, and the server is asked about it before the same value is sent again.

/** An attempt to write a secret, with the ciphertext that was sent. */
export interface Try {
  environmentId: string
  name: string
  wrappedDek: string
  ciphertext: string
}

const lost = new Map<string, Try>()

const keyOf = ({ environmentId, name }: Pick<Try, 'environmentId' | 'name'>) => `${environmentId} ${name}`

/** Remembers an attempt that may have reached the server. */
export const noteLost = (one: Try): void => void lost.set(keyOf(one), one)

/** Forgets attempts that reached the server, so that the same value can be proposed again later. */
export function forgetLost(tries: Try[]): void {
  for (const one of tries) lost.delete(keyOf(one))
}

/** Sends one or several writes, and remembers them if the answer gets lost. */
export async function sendOnce<T>(tries: Try[], send: () => Promise<T>): Promise<T> {
  try {
    const answer = await send()
    forgetLost(tries)
    return answer
  } catch (error) {
    for (const one of tries) {
      if (error instanceof UnavailableError) noteLost(one)
      else lost.delete(keyOf(one))
    }
    throw error
  }
}

/**
 * Returns the result of an earlier attempt with the same value, if it reached the server. Null means that the value
 * must be sent. The attempt stays remembered until `forgetLost`, because other writes of its group may still fail.
 */
export async function findEarlier(orgId: string, now: Try): Promise<Written | null> {
  const earlier = lost.get(keyOf(now))
  if (!earlier || !(await isSameValue(earlier, now))) return null
  return findArrived(orgId, earlier)
}

async function isSameValue(earlier: Try, now: Try): Promise<boolean> {
  const { wrappedDek, environmentId, name } = now
  if (earlier.wrappedDek !== wrappedDek) return false
  const secrets = [earlier, now].map(({ ciphertext }) => ({ name, ciphertext }))
  const [before, after] = await keyring.call('identifyValues', { wrappedDek, environmentId, secrets })
  return before === after && before !== -1
}

/** A deletion, or the restoration of an earlier version. It has no ciphertext that would identify it. */
export interface OtherChange {
  environmentId: string
  name: string
  action: 'delete' | 'restore'
  baseVersion: number
  restoreVersion: number | null
}

const lostChanges = new Set<string>()

/**
 * Sends deletions or restorations in one environment. Each one is left out if an equal one was sent before, its answer
 * got lost, and it waits for approval. The result is `queued` if none is left to send.
 */
export async function sendUnqueued<C extends OtherChange, T>(
  orgId: string,
  changes: readonly C[],
  send: (left: C[]) => Promise<T>,
): Promise<T | 'queued'> {
  const left = await withoutQueued(orgId, changes)
  try {
    const answer = left.length === 0 ? 'queued' : await send(left)
    for (const change of changes) lostChanges.delete(keyOfChange(change))
    return answer
  } catch (error) {
    if (error instanceof UnavailableError) for (const change of left) lostChanges.add(keyOfChange(change))
    throw error
  }
}

const keyOfChange = ({ environmentId, name, action, baseVersion, restoreVersion }: OtherChange) =>
  JSON.stringify([environmentId, name, action, baseVersion, restoreVersion])

async function withoutQueued<C extends OtherChange>(orgId: string, changes: readonly C[]): Promise<C[]> {
  const [sentBefore] = changes.filter((change) => lostChanges.has(keyOfChange(change)))
  if (!sentBefore) return [...changes]
  const open = await openChanges(orgId, sentBefore.environmentId)
  const queued = new Set(
    open.map(({ environmentId, secretName: name, action, baseVersion, restoreVersion }) =>
      action === 'put' ? '' : keyOfChange({ environmentId, name, action, baseVersion, restoreVersion }),
    ),
  )
  return changes.filter((change) => !(lostChanges.has(keyOfChange(change)) && queued.has(keyOfChange(change))))
}

/** Reads all open changes of an environment. One group can fill several pages. */
async function openChanges(orgId: string, envId: string) {
  const pages = await allPages((page) =>
    api.changes.list({ params: { orgId }, query: { envId, status: 'open', ...page } }),
  )
  return pages.flatMap(({ changeRequests }) => changeRequests).filter(isSecretChange)
}

/**
 * Asks the server whether this ciphertext waits for approval or is the stored value. A ciphertext belongs to one
 * attempt only. A change that was rejected, or applied and since overwritten, must be sent again.
 */
export async function findArrived(orgId: string, { environmentId, name, ciphertext }: Try): Promise<Written | null> {
  // The queue is read first. A change that is applied between the two reads is then found by one of them.
  const open = await openChanges(orgId, environmentId)
  if (open.some((one) => one.secretName === name && one.ciphertext === ciphertext)) return 'queued'
  const sealed = await reloadSealed(orgId, environmentId)
  const current = sealed?.secrets.get(name)
  return current?.ciphertext === ciphertext ? { version: current.version } : null
}
