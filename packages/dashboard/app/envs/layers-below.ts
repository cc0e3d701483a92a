import { fetchCached } from '../queries.ts'
import { compositionQuery, envQuery, groupQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'

/**
 * Returns the other environments whose values programs get: the parent of a branch, and the environments with the same
 * slug in composed groups.
 */
export async function layersBelow(
  orgId: string,
  environment: Environment,
): Promise<{ environmentId: string; label: string }[]> {
  const { parentEnvironmentId } = environment
  const base = parentEnvironmentId ? (await fetchCached(envQuery(orgId, parentEnvironmentId))).environment : environment
  if (base.applicationId === null) return []
  const { groups } = await fetchCached(compositionQuery(orgId, base.id))
  const found = await Promise.all(groups.map(({ groupId }) => fetchCached(groupQuery(orgId, groupId))))
  const composed = found.flatMap(({ group, environments }) =>
    environments
      .filter(({ slug, canDecrypt }) => slug === base.slug && canDecrypt)
      .map(({ id }) => ({ environmentId: id, label: group.name })),
  )
  return base === environment ? composed : [...composed, { environmentId: base.id, label: base.name }]
}
