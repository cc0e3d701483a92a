import { api } from '../api.ts'

/** Returns the number of open requests that the person may see, or null for none. */
export async function countOpenRequests(orgId: string, signal: AbortSignal): Promise<string | null> {
  const query = { status: 'open', limit: 1 } as const
  const { open } = await api.accessRequests.list({ params: { orgId }, query }, { signal })
  return open === 0 ? null : `${open}`
}
