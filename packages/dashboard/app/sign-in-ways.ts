import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** How people sign in on this server, and where its mails go. */
export const waysQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => api.signIn.get({}, { signal }),
})
