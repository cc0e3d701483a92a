import { SkerryError } from '@skerry/sdk/errors'
import { notifyManager, QueryClient, type QueryKey, queryOptions, type UseQueryResult } from '@tanstack/react-query'
import { api } from './api.ts'
import { Cancelled } from './prompts.ts'

// At once instead of after a timer: a stored value is on the page before its editor closes, so that the focus can return.
notifyManager.setScheduler(queueMicrotask)

/** The server's answers: ciphertext, names, times. Plaintext never gets in here; it lives in `usePlaintext`. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine works without a network, and a failure to reach another one must be shown, not waited out.
      networkMode: 'always',
      // About as long as a page takes to open: someone who returns to a list sees what others have done meanwhile.
      staleTime: 1000,
      // The API client has already repeated what may be repeated.
      retry: false,
      throwOnError: (error) => !(error instanceof SkerryError || error instanceof Cancelled),
    },
  },
})

/** Queries that a change makes stale: every query whose key begins with this one. */
export interface Stale {
  queryKey: QueryKey
}

/** Every query of an organization, or of a part of it. */
export const orgQueries = (orgId: string, ...part: string[]): Stale => ({ queryKey: ['orgs', orgId, ...part] })

/**
 * Queries on the page are loaded again. Others are removed from the cache, so that no page starts with the old state.
 * Resolves when the page's queries have loaded. An action, a form and a dialog do this with their `stale`.
 *
 * @example await invalidate(agentsQuery(org.id), orgQueries(org.id, 'vault'))
 */
export async function invalidate(...stale: readonly Stale[]): Promise<void> {
  const reload = ({ queryKey }: Stale) => {
    queryClient.removeQueries({ queryKey, type: 'inactive', fetchStatus: 'idle' })
    return queryClient.invalidateQueries({ queryKey })
  }
  await Promise.all(stale.map(reload))
}

/**
 * Whether a query's data has just come from the server. Cached data may decide what is shown, but not whom a key is wrapped
 * to.
 *
 * @example disabled={!isFresh(grantees)} // of a query with `staleTime: 0`
 */
export const isFresh = ({ isSuccess, isFetching }: Pick<UseQueryResult, 'isSuccess' | 'isFetching'>): boolean =>
  isSuccess && !isFetching

/**
 * Who is signed in. A session in which the second factor is still to be entered hears of no organizations: asking for them
 * opens the dialog for it. A person who closes it goes on without, and the next page
 * asks again.
 */
async function readMe(signal: AbortSignal) {
  const me = await api.me.get({}, { signal })
  if (me.orgs.length > 0 || !me.session?.secondFactor || me.session.mfaAt !== null) return me
  try {
    await api.orgs.list({}, { signal })
  } catch (error) {
    if (error instanceof Cancelled) return me
    throw error
  }
  return api.me.get({}, { signal })
}

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => readMe(signal) })

export const secondFactorQuery = queryOptions({
  queryKey: ['me', 'second-factor'],
  queryFn: ({ signal }) => api.secondFactor.get({}, { signal }),
})

export const keysQuery = queryOptions({
  queryKey: ['me', 'keys'],
  queryFn: ({ signal }) => api.me.getKeys({}, { signal }),
})

export const passkeysQuery = queryOptions({
  queryKey: ['me', 'passkeys'],
  queryFn: ({ signal }) => api.passkeys.list({}, { signal }),
})
