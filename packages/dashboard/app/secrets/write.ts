import { limits } from '@skerry/contract/limits'
import { RefusedError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { invalidate, orgQueries, queryClient } from '../queries.ts'
import type { Written } from './changes.ts'
import { findEarlier, forgetLost, type OtherChange, sendOnce, sendUnqueued, type Try } from './lost-writes.ts'
import { noteHeader, queuedQuery } from './protected.ts'
import { protectionQuery, reloadSealed, type Sealed, type Secret, sealedQuery } from './queries.ts'
import { ValueTooLong } from './value-too-long.ts'

export interface Write {
  orgId: string
  environmentId: string
  name: string
  ciphertext: string
  /** This person's wrapped copy of the environment's key that sealed the value. */
  wrappedDek: string
  /** The version that the value is based on, or 0 for a new secret. */
  baseVersion: number
  note: string
}

/**
 * Stores a sealed secret. Call `checkMeanings` before sealing. If an earlier write of the same value reached the
 * server, nothing is sent.
 */
export async function writeSecret(write: Write): Promise<Written> {
  const { orgId, environmentId, name, ciphertext, baseVersion, note } = write
  if (ciphertext.length > limits.ciphertextBytes) throw new ValueTooLong()
  const earlier = await findEarlier(orgId, write)
  if (earlier !== null) {
    await changedQueue(orgId, environmentId)
    forgetLost([write])
    return earlier
  }
  const params = { orgId, envId: environmentId, name }
  const body = { ciphertext, expectedVersion: baseVersion }
  const answer = await sendOnce([write], () => api.secrets.put({ params, body }, noteHeader(note)))
  if (!('secret' in answer)) {
    await changedQueue(orgId, environmentId)
    return 'queued'
  }
  changeSealed(orgId, environmentId, (secrets) => secrets.set(name, answer.secret))
  return { version: answer.secret.version }
}

export async function sealAndWrite(write: Omit<Write, 'ciphertext'> & { value: string }): Promise<Written> {
  const { value, ...rest } = write
  const { environmentId, name, wrappedDek } = rest
  await checkMeanings([environmentId])
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  return writeSecret({ ...rest, ciphertext })
}

interface Proposal {
  orgId: string
  environmentId: string
  note: string
  wrappedDek: string
}

/** Seals values and proposes them as one change of a protected environment, as `proposeSealed` does. */
export async function proposeTogether(
  proposal: Proposal & { secrets: { name: string; value: string; baseVersion: number }[] },
): Promise<{ written: number; queued: number }> {
  const { secrets, ...rest } = proposal
  const { environmentId, wrappedDek } = rest
  await checkMeanings([environmentId])
  const ciphertexts = await keyring.call('sealSecrets', { wrappedDek, environmentId, secrets })
  const sealed = secrets.map(({ name, baseVersion }, i) => ({ name, baseVersion, ciphertext: ciphertexts[i] ?? '' }))
  return proposeSealed({ ...rest, secrets: sealed })
}

/**
 * Proposes sealed values as one change of a protected environment. Values that an earlier write has already delivered,
 * alone or in another group, are left out. Returns how many are stored and how many wait for approval.
 */
export async function proposeSealed(
  proposal: Proposal & { secrets: { name: string; ciphertext: string; baseVersion: number }[] },
): Promise<{ written: number; queued: number }> {
  const { orgId, environmentId, secrets, note, wrappedDek } = proposal
  if (secrets.some(({ ciphertext }) => ciphertext.length > limits.ciphertextBytes)) throw new ValueTooLong()
  const puts = secrets.map(({ baseVersion: expectedVersion, ...put }) => ({ ...put, expectedVersion }))
  const tries = puts.map(({ name, ciphertext }): Try => ({ environmentId, name, wrappedDek, ciphertext }))
  const earlier = await Promise.all(tries.map((one) => findEarlier(orgId, one)))
  const isMissing = (_: unknown, i: number) => earlier[i] === null
  const body = { puts: puts.filter(isMissing) }
  if (body.puts.length > 0) {
    const params = { orgId, envId: environmentId }
    await sendOnce(tries.filter(isMissing), () => api.changes.propose({ params, body }, noteHeader(note)))
  }
  forgetLost(tries)
  await changedQueue(orgId, environmentId)
  const written = earlier.filter((one) => one !== null && one !== 'queued').length
  return { written, queued: tries.length - written }
}

/**
 * Proposes to delete secrets, as one change of a protected environment. At most `limits.changeGroupMax` of them. A deletion
 * that an earlier attempt has already delivered, alone or in another group, is left out.
 */
export async function proposeDeletions(orgId: string, environmentId: string, secrets: Secret[], note: string) {
  const params = { orgId, envId: environmentId }
  const deletions = secrets.map((secret) => deletionOf(environmentId, secret))
  await sendUnqueued(orgId, deletions, (left) => {
    const deletes = left.map(({ name, baseVersion }) => ({ name, expectedVersion: baseVersion, keepFor }))
    return api.changes.propose({ params, body: { deletes } }, noteHeader(note))
  })
  await changedQueue(orgId, environmentId)
}

/** The time for which a deleted secret can be restored. */
const keepFor = '30d'

const deletionOf = (environmentId: string, { name, version }: Secret): OtherChange => ({
  environmentId,
  name,
  action: 'delete',
  baseVersion: version,
  restoreVersion: null,
})

export async function deleteSecret(orgId: string, environmentId: string, secret: Secret, note: string) {
  const { name, version: expectedVersion } = secret
  const params = { orgId, envId: environmentId, name }
  const answer = await sendUnqueued(orgId, [deletionOf(environmentId, secret)], () =>
    api.secrets.delete({ params, query: { expectedVersion, keepFor } }, noteHeader(note)),
  )
  if (answer === 'queued' || 'queued' in answer) {
    await changedQueue(orgId, environmentId)
    return 'queued'
  }
  changeSealed(orgId, environmentId, (secrets) => secrets.delete(secret.name))
  return 'written'
}

export async function restoreSecret(
  orgId: string,
  environmentId: string,
  secret: Secret,
  version: number,
  note: string,
  /** The value encrypted anew, for a version from before a rename. */
  ciphertext?: string,
) {
  const { name, version: expectedVersion } = secret
  const params = { orgId, envId: environmentId, name }
  const baseVersion = expectedVersion
  const change = { environmentId, name, action: 'restore', baseVersion, restoreVersion: version } as const
  const answer = await sendUnqueued(orgId, [change], () =>
    api.secrets.restore(
      { params, body: { version, expectedVersion, ...(ciphertext !== undefined && { ciphertext }) } },
      noteHeader(note),
    ),
  )
  if (answer === 'queued' || !('secret' in answer)) {
    await changedQueue(orgId, environmentId)
    return 'queued'
  }
  changeSealed(orgId, environmentId, (secrets) => secrets.set(secret.name, answer.secret))
  return 'written'
}

/** Reloads what shows how many changes of an environment wait. */
export async function changedQueue(orgId: string, envId: string): Promise<void> {
  await invalidate(protectionQuery(orgId, envId))
  await invalidate(queuedQuery(orgId, envId), orgQueries(orgId, 'changes'))
}

/** Changes one secret in the cache and keeps all others. */
export function changeSealed(orgId: string, envId: string, change: (secrets: Map<string, Secret>) => unknown) {
  queryClient.setQueryData(sealedQuery(orgId, envId).queryKey, (before: Sealed | null | undefined) => {
    if (!before) return before
    const secrets = new Map(before.secrets)
    change(secrets)
    return { ...before, secrets }
  })
}

/**
 * If someone else's change caused an error, this loads the current secrets for the page to show and compare. It never
 * fails: the caller then tells what was done before the error.
 */
export async function rereadAfter(errors: unknown[], orgId: string, envId: string): Promise<void> {
  if (errors.some((error) => isConflict(error) || isGone(error))) await reloadSealed(orgId, envId).catch(() => null)
}

/** Waits for a write. If someone else's change makes it fail, the page reads the current secrets first. */
export const orReread = <T>(write: Promise<T>, orgId: string, envId: string): Promise<T> =>
  write.catch(async (error) => {
    await rereadAfter([error], orgId, envId)
    throw error
  })

const isGone = (error: unknown) => error instanceof RefusedError && error.code === 'not_found'

export const isConflict = (error: unknown) => error instanceof RefusedError && error.code === 'conflict'
