import type { Answer } from '@skerry/contract/endpoint'
import type { deletedSecrets } from '@skerry/contract/secrets/endpoints'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { invalidate, orgQueries } from '../queries.ts'
import { applyAll, type Outcome, type Written } from './changes.ts'
import { findEarlier, forgetLost, sendOnce, type Try } from './lost-writes.ts'
import { noteHeader } from './protected.ts'
import { reloadSealed, type Secret } from './queries.ts'
import { changedQueue, changeSealed, isConflict } from './write.ts'

export type Deleted = Answer<typeof deletedSecrets.list>['deletedSecrets'][number]

/** All lists of deleted secrets in an organization. */
const deletedQueries = (orgId: string) => orgQueries(orgId, 'deleted-secrets')

/** The deleted secrets that these environments keep, the latest deletion first. */
export const deletedQuery = (orgId: string, environmentIds: string[]) =>
  queryOptions({
    queryKey: [...deletedQueries(orgId).queryKey, environmentIds],
    queryFn: async ({ signal }) => {
      const lists = environmentIds.map(async (envId) => {
        const params = { orgId, envId }
        const pages = await allPages((query) => api.deletedSecrets.list({ params, query }, { signal }))
        return pages.flatMap((page) => page.deletedSecrets)
      })
      return (await Promise.all(lists)).flat().sort((a, b) => Date.parse(b.deletedAt) - Date.parse(a.deletedAt))
    },
    // The person may have deleted a secret a moment ago.
    staleTime: 0,
  })

/** A deleted secret with its last value. A secret that was just deleted has the same ID and ciphertext. */
export type Restorable = Pick<Secret, 'id' | 'environmentId' | 'name' | 'ciphertext'>

/** Thrown if a secret has the name of the deleted one again. */
export class NameInUse extends Error {}

/**
 * Restores deleted secrets with their versions. Each value is sealed anew, because a client that saw the secret gone refuses
 * the old ciphertext. The outcome has the IDs of secrets as names.
 */
export async function restoreDeleted(orgId: string, all: Restorable[], note = ''): Promise<Outcome> {
  const environmentIds = [...new Set(all.map(({ environmentId }) => environmentId))]
  await checkMeanings(environmentIds)
  await keyring.unlock()
  // A key may have been replaced since the page loaded.
  const sealed = await Promise.all(environmentIds.map((id) => reloadSealed(orgId, id)))
  const keys = new Map(environmentIds.map((id, i) => [id, sealed[i]?.wrappedDek ?? '']))
  const byId = new Map(all.map((one) => [one.id, one]))
  const restore = (id: string) => {
    const deleted = byId.get(id) as Restorable
    return restoreOne(orgId, deleted, keys.get(deleted.environmentId) ?? '', note)
  }
  const outcome = await applyAll([...byId.keys()], restore, () => {})
  const queuedIn = new Set(outcome.queued.map((id) => byId.get(id)?.environmentId ?? ''))
  await Promise.all([...queuedIn].map((id) => changedQueue(orgId, id)))
  await invalidate(deletedQueries(orgId))
  return outcome
}

async function restoreOne(orgId: string, deleted: Restorable, wrappedDek: string, note: string): Promise<Written> {
  const { id, environmentId, name, ciphertext } = deleted
  const from = [{ wrappedDek, environmentId, secrets: [{ name, ciphertext }] }]
  const [again] = await keyring.call('resealSecrets', { from, to: { wrappedDek, environmentId } })
  const one: Try = { environmentId, name, wrappedDek, ciphertext: again?.ciphertext ?? '' }
  const written = (await findEarlier(orgId, one)) ?? (await send(orgId, id, one, note))
  forgetLost([one])
  return written
}

async function send(orgId: string, secretId: string, one: Try, note: string): Promise<Written> {
  const { environmentId: envId, ciphertext } = one
  const request = { params: { orgId, envId, secretId }, body: { ciphertext } }
  try {
    const answer = await sendOnce([one], () => api.deletedSecrets.restore(request, noteHeader(note)))
    if (!('secret' in answer)) return 'queued'
    changeSealed(orgId, envId, (secrets) => secrets.set(answer.secret.name, answer.secret))
    return { version: answer.secret.version }
  } catch (error) {
    if (!isConflict(error)) throw error
    const now = await reloadSealed(orgId, envId)
    throw now?.secrets.has(one.name) ? new NameInUse() : error
  }
}
