import { SkerryError } from '@skerry/sdk/errors'
import { QueryClient, queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'
import { Cancelled } from './question.ts'

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
