import { limits } from '@skerry/contract/limits'
import { applyAll } from './changes.ts'
import type { Column } from './columns.ts'
import type { Secret } from './queries.ts'
import { deleteSecret, proposeDeletions, rereadAfter } from './write.ts'

/** The result of a deletion of several secrets from one environment. */
export interface Removal {
  deleted: Secret[]
  /** Secrets whose deletion waits for approval. */
  queued: Secret[]
  failed: { name: string; error: unknown }[]
}

/** The result of all attempts of a dialog to delete secrets from one environment. */
export interface RemovalFrom extends Removal {
  environmentId: string
  where: string
}

/** Adds the result of another attempt. Secrets that were not deleted before were attempted again. */
export function addRemoval(all: RemovalFrom[], { environmentId, name: where }: Column, next: Removal): RemovalFrom[] {
  const before = all.find((one) => one.environmentId === environmentId)
  if (!before) return [...all, { environmentId, where, ...next }]
  const deleted = [...before.deleted, ...next.deleted]
  const queued = [...before.queued, ...next.queued]
  return all.map((one) => (one === before ? { environmentId, where, deleted, queued, failed: next.failed } : one))
}

/** Returns true if the dialog has already proposed this deletion. It must not be proposed again. */
export const isProposed = (all: RemovalFrom[], { id, version }: Secret): boolean =>
  all.some(({ queued }) => queued.some((one) => one.id === id && one.version === version))

/**
 * Deletes secrets from one environment, and keeps them for 30 days. A protected environment gets one change for all of
 * them. A failed deletion does not stop the others.
 */
export async function removeAll(orgId: string, column: Column, secrets: Secret[], note: string): Promise<Removal> {
  const { environmentId, isProtected } = column
  if (secrets.length === 0) return { deleted: [], queued: [], failed: [] }
  if (isProtected && secrets.length <= limits.changeGroupMax) {
    try {
      await proposeDeletions(orgId, environmentId, secrets, note)
      return { deleted: [], queued: secrets, failed: [] }
    } catch (error) {
      await rereadAfter([error], orgId, environmentId)
      return { deleted: [], queued: [], failed: secrets.map(({ name }) => ({ name, error })) }
    }
  }
  const byName = new Map(secrets.map((secret) => [secret.name, secret]))
  const remove = async (name: string) => {
    const secret = byName.get(name) as Secret
    const answer = await deleteSecret(orgId, environmentId, secret, note)
    return answer === 'queued' ? answer : { version: secret.version }
  }
  const { written, queued, failed } = await applyAll([...byName.keys()], remove, () => {})
  const secretsOf = (names: Iterable<string>) => [...names].flatMap((name) => byName.get(name) ?? [])
  await rereadAfter(
    failed.map(({ error }) => error),
    orgId,
    environmentId,
  )
  return { deleted: secretsOf(written.keys()), queued: secretsOf(queued), failed }
}
