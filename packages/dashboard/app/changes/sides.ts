import { RefusedError } from '@skerry/sdk/errors'
import { queryOptions } from '@tanstack/react-query'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import type { SecretChange } from './queries.ts'

/** The old and the new side of a change, as ciphertext from the server. */
export interface Sides {
  wrappedDek: string
  environmentId: string
  name: string
  current: string | null
  /** 0 if the secret does not exist now. */
  currentVersion: number
  /** Null if the change deletes the secret. Undefined if the value was deleted together with its secret. */
  proposed: string | null | undefined
  /** The original of a restore whose value the proposer encrypted anew: the secret was deleted, or renamed since. */
  restored: Original | null
}

/** The version that a restore names, or the last version of a deleted secret. */
interface Original {
  isDeleted: boolean
  version: number
  /** Undefined if the server does not have it. */
  ciphertext: string | undefined
  formerNames: string | null
}

/** Loads both sides of a change. The result is null for a person without the environment's key. */
export const sidesQuery = (orgId: string, change: SecretChange) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'changes', change.id, 'sides', change.status],
    queryFn: async ({ signal }): Promise<Sides | null> => {
      const params = { orgId, envId: change.environmentId }
      try {
        const { wrappedDek } = await api.grants.own({ params }, { signal })
        const { restored, formerNames, ...history } = await historyOf(orgId, change, signal)
        const sides = { wrappedDek, environmentId: change.environmentId, name: change.secretName, ...history }
        const version = { isDeleted: false, version: change.restoreVersion ?? 0, ciphertext: restored, formerNames }
        const original = change.deletedSecretId == null ? version : await deletedOf(orgId, change, signal)
        return { ...sides, proposed: proposedOf(change, restored), restored: isResealed(change) ? original : null }
      } catch (error) {
        if (error instanceof RefusedError && error.code === 'forbidden') return null
        throw error
      }
    },
    staleTime: 0,
  })

const isResealed = ({ action, ciphertext }: SecretChange) => action === 'restore' && ciphertext !== null

/** Finds the deleted secret that a restore names. Null after the decision, because an applied restore leaves none. */
async function deletedOf(orgId: string, change: SecretChange, signal: AbortSignal): Promise<Original | null> {
  if (change.status !== 'open') return null
  const params = { orgId, envId: change.environmentId }
  const pages = await allPages((query) => api.deletedSecrets.list({ params, query }, { signal }))
  const deleted = pages.flatMap(({ deletedSecrets }) => deletedSecrets).find(({ id }) => id === change.deletedSecretId)
  return {
    isDeleted: true,
    version: deleted?.version ?? 0,
    ciphertext: deleted?.ciphertext ?? undefined,
    formerNames: null,
  }
}

function proposedOf({ action, ciphertext }: SecretChange, restored: string | undefined): string | null | undefined {
  if (action === 'delete') return null
  // A restore has a ciphertext of its own if the secret was deleted, or renamed since that version.
  return ciphertext ?? (action === 'put' ? undefined : restored)
}

/** Returns the current ciphertext. For a restore it also returns the ciphertext of the version to restore. */
async function historyOf(orgId: string, change: SecretChange, signal: AbortSignal) {
  const { environmentId: envId, secretName: name, restoreVersion } = change
  let current: string | null = null
  let currentVersion = 0
  let restored: string | undefined
  let formerNames: string | null = null
  let cursor: string | null = null
  try {
    do {
      const query = { limit: restoreVersion === null ? 1 : 200, ...(cursor === null ? {} : { cursor }) }
      const page: Awaited<ReturnType<typeof api.secrets.versions>> = await api.secrets.versions(
        { params: { orgId, envId, name }, query },
        { signal },
      )
      currentVersion = page.currentVersion
      formerNames = page.formerNames ?? null
      for (const { version, ciphertext } of page.versions) {
        if (version === currentVersion) current = ciphertext
        if (version === restoreVersion) restored = ciphertext
      }
      cursor = page.nextCursor
    } while (restoreVersion !== null && restored === undefined && cursor !== null)
  } catch (error) {
    // The secret does not exist: either the change creates it, or it has been deleted since.
    if (!(error instanceof RefusedError) || error.code !== 'not_found') throw error
  }
  return { current, currentVersion, restored, formerNames }
}
