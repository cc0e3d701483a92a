import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

const firstMissing = (orgId: string, signal: AbortSignal) => api.grants.missing({ params: { orgId } }, { signal })

/** Returns the number of people who have a keyring and wait for keys that this admin holds, or null for none. */
export async function countReady(orgId: string, signal: AbortSignal): Promise<string | null> {
  const { missing, nextCursor } = await firstMissing(orgId, signal)
  const { size } = readyIn(missing)
  if (size === 0) return null
  return nextCursor === null ? `${size}` : `${size}+`
}

/**
 * The people who have a keyring and wait for keys that this admin holds, with the number of keys. With very many missing
 * keys, those of the environments that were made first.
 */
export const waitingQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'missing-grants', 'waiting'],
    queryFn: async ({ signal }) => readyIn((await firstMissing(orgId, signal)).missing),
    structuralSharing: false,
  })

type Missing = Awaited<ReturnType<typeof firstMissing>>['missing']

function readyIn(missing: Missing): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { held, publicKeyJwk, principalId } of missing)
    if (held && publicKeyJwk !== null) counts.set(principalId, (counts.get(principalId) ?? 0) + 1)
  return counts
}
