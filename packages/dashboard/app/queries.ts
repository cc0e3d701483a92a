import { SkerryError } from '@skerry/sdk/errors'
import { notifyManager, QueryClient, type QueryKey, queryOptions, type UseQueryResult } from '@tanstack/react-query'
import { api } from './api.ts'
import { Cancelled } from './question.ts'

// At once, and not after a timer: what is stored is on the page before the field that it was typed into goes, and the focus
// goes back to it.
notifyManager.setScheduler(queueMicrotask)

/** What the server answered: ciphertext, names, times. Plaintext never gets in here; it lives in `useRevealed`. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine is there without a network, and one that is not has to be told of, not waited for.
      networkMode: 'always',
      // As long as a page takes to open: whoever comes back to a list sees what others did meanwhile.
      staleTime: 1000,
      // The client below has repeated already what may be repeated.
      retry: false,
      throwOnError: (error) => !(error instanceof SkerryError || error instanceof Cancelled),
    },
  },
})

/**
 * After a change: what is on the page is asked for again, and the rest is forgotten, so that no page begins with how it
 * was. -> once it is there
 *
 * @example await outdated({ queryKey: ['orgs', org.id] })
 */
export async function outdated({ queryKey }: { queryKey: QueryKey }): Promise<void> {
  queryClient.removeQueries({ queryKey, type: 'inactive', fetchStatus: 'idle' })
  await queryClient.invalidateQueries({ queryKey })
}

/**
 * Whether the server has just said so: what was known before may decide what is shown, and not whom a key is wrapped to.
 *
 * @example disabled={!isCertain(grantees)} // of a query with `staleTime: 0`
 */
export const isCertain = ({ isSuccess, isFetching }: Pick<UseQueryResult, 'isSuccess' | 'isFetching'>): boolean =>
  isSuccess && !isFetching

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => api.me.get({}, { signal }) })

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
