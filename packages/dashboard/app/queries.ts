import { SkerryError } from '@skerry/sdk/errors'
import {
  CancelledError,
  type FetchQueryOptions,
  notifyManager,
  QueryClient,
  type QueryKey,
  queryOptions,
  type UseQueryResult,
} from '@tanstack/react-query'
import { api } from './api.ts'
import { Cancelled } from './prompts.ts'

// Query notifies at once, not after a timer. A stored value is then on the page before its editor closes, so the focus
// can return to it.
notifyManager.setScheduler(queueMicrotask)

/**
 * The cache of the server's answers: ciphertext, names, times. It never holds plaintext, which lives in `usePlaintext`.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine works without a network. A failure to reach another server must be shown at once.
      networkMode: 'always',
      // About as long as a page takes to open. A person who returns to a list sees what others changed meanwhile.
      staleTime: 1000,
      // The API client already retries the requests that may be repeated.
      retry: false,
      throwOnError: (error) => !(error instanceof SkerryError || error instanceof Cancelled),
    },
  },
})

/**
 * Asks the server now. A request that is already on its way may be answered as of before the last write, so it is replaced.
 */
export async function fetchNow<T, K extends QueryKey>(options: FetchQueryOptions<T, Error, T, K>): Promise<T> {
  const query = queryClient.getQueryCache().build(queryClient, queryClient.defaultQueryOptions(options))
  return unlessLeft(() => query.fetch(options, { cancelRefetch: true }))
}

/** Returns cached data that is not stale, or asks the server. */
export const fetchCached = <T, K extends QueryKey>(options: FetchQueryOptions<T, Error, T, K>): Promise<T> =>
  unlessLeft(() => queryClient.fetchQuery(options))

/** If somebody leaves the last page that shows the same query, the request is cancelled. It is then made again. */
async function unlessLeft<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof CancelledError && error.revert)) throw error
    }
}

/** The queries that a change makes stale: all queries whose key begins with this one. */
export interface Stale {
  queryKey: QueryKey
}

/** All queries of an organization, or of one part of it. */
export const orgQueries = (orgId: string, ...part: string[]): Stale => ({ queryKey: ['orgs', orgId, ...part] })

/**
 * Reloads the stale queries of the page and removes other stale queries from the cache, so that no page starts with old
 * data. Resolves when the page's queries have loaded. Actions, forms and dialogs call it with their `stale`.
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
 * Whether a query's data has just come from the server. Cached data may decide what is shown, but never who receives a
 * key.
 *
 * @example disabled={!isFresh(grantees)} // of a query with `staleTime: 0`
 */
export const isFresh = ({ isSuccess, isFetching }: Pick<UseQueryResult, 'isSuccess' | 'isFetching'>): boolean =>
  isSuccess && !isFetching

/**
 * Reads the signed-in person. A session that still lacks its second factor gets no organizations, so this lists them to
 * open the dialog for it. If the person closes the dialog, the page opens without organizations, and the next page asks
 * again.
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
