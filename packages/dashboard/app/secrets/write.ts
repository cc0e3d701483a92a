import { limits } from '@skerry/contract/limits'
import { RefusedError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { invalidate, queryClient } from '../queries.ts'
import { noteHeader, queuedQuery } from './protected.ts'
import { protectionQuery, type Sealed, type Secret, sealedQuery } from './queries.ts'
import { ValueTooLong } from './value-too-long.ts'

export interface Write {
  orgId: string
  environmentId: string
  name: string
  ciphertext: string
  /** The version that it was made on; 0: there was none. */
  baseVersion: number
  note: string
}

/** Stores what was sealed after `checkMeanings`. -> whether it was queued for approval instead of written. */
export async function writeSecret(write: Write): Promise<'written' | 'queued'> {
  const { orgId, environmentId, name, ciphertext, baseVersion, note } = write
  if (ciphertext.length > limits.ciphertextBytes) throw new ValueTooLong()
  const params = { orgId, envId: environmentId, name }
  const body = { ciphertext, expectedVersion: baseVersion }
  const answer = await api.secrets.put({ params, body }, noteHeader(note))
  if (!('secret' in answer)) {
    await changedQueue(orgId, environmentId)
    return 'queued'
  }
  changeSealed(orgId, environmentId, (secrets) => secrets.set(name, answer.secret))
  return 'written'
}

export async function sealAndWrite(write: Omit<Write, 'ciphertext'> & { value: string; wrappedDek: string }) {
  const { value, wrappedDek, ...rest } = write
  const { environmentId, name } = rest
  await checkMeanings([environmentId])
  const ciphertext = await keyring.call('sealSecret', { wrappedDek, environmentId, name, value })
  return writeSecret({ ...rest, ciphertext })
}

/** Seals values and proposes them as one change of a protected environment. */
export async function proposeTogether(proposal: {
  orgId: string
  environmentId: string
  secrets: { name: string; value: string; baseVersion: number }[]
  note: string
  wrappedDek: string
}): Promise<void> {
  const { orgId, environmentId, secrets, note, wrappedDek } = proposal
  await checkMeanings([environmentId])
  const ciphertexts = await keyring.call('sealSecrets', { wrappedDek, environmentId, secrets })
  if (ciphertexts.some(({ length }) => length > limits.ciphertextBytes)) throw new ValueTooLong()
  const puts = secrets.map(({ name, baseVersion: expectedVersion }, i) => {
    return { name, ciphertext: ciphertexts[i] ?? '', expectedVersion }
  })
  await api.changes.propose({ params: { orgId, envId: environmentId }, body: { puts } }, noteHeader(note))
  await changedQueue(orgId, environmentId)
}

export async function deleteSecret(orgId: string, environmentId: string, secret: Secret, note: string) {
  const params = { orgId, envId: environmentId, name: secret.name }
  const answer = await api.secrets.delete({ params, query: { expectedVersion: secret.version } }, noteHeader(note))
  if ('queued' in answer) {
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
) {
  const params = { orgId, envId: environmentId, name: secret.name }
  const answer = await api.secrets.restore(
    { params, body: { version, expectedVersion: secret.version } },
    noteHeader(note),
  )
  if (!('secret' in answer)) {
    await changedQueue(orgId, environmentId)
    return 'queued'
  }
  changeSealed(orgId, environmentId, (secrets) => secrets.set(secret.name, answer.secret))
  return 'written'
}

async function changedQueue(orgId: string, envId: string): Promise<void> {
  await invalidate(protectionQuery(orgId, envId))
  await Promise.all([invalidate(queuedQuery(orgId, envId)), invalidate({ queryKey: ['orgs', orgId, 'changes'] })])
}

/** Changes one secret in the cache and keeps the other thousands. */
export function changeSealed(orgId: string, envId: string, change: (secrets: Map<string, Secret>) => unknown) {
  queryClient.setQueryData(sealedQuery(orgId, envId).queryKey, (before: Sealed | null | undefined) => {
    if (!before) return before
    const secrets = new Map(before.secrets)
    change(secrets)
    return { ...before, secrets }
  })
}

/** The environment's secrets as the server has them now. */
export const reloadSealed = (orgId: string, envId: string): Promise<Sealed | null> =>
  queryClient.fetchQuery({ ...sealedQuery(orgId, envId), staleTime: 0 })

/** After a refusal because someone else was faster: loads what they stored, for the page to show and compare with. */
export async function rereadAfter(errors: unknown[], orgId: string, envId: string): Promise<void> {
  if (errors.some((error) => isConflict(error) || isGone(error))) await reloadSealed(orgId, envId)
}

const isGone = (error: unknown) => error instanceof RefusedError && error.code === 'not_found'

export const isConflict = (error: unknown) => error instanceof RefusedError && error.code === 'conflict'
