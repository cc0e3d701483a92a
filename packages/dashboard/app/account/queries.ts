import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export const signInPasskeysQuery = queryOptions({
  queryKey: ['me', 'sign-in-passkeys'],
  queryFn: ({ signal }) => api.signInPasskeys.list({}, { signal }),
})

export const recoveryKitQuery = queryOptions({
  queryKey: ['me', 'recovery-kit'],
  queryFn: ({ signal }) => api.recoveryKit.get({}, { signal }),
})

export const sessionsQuery = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: ({ signal }) => api.sessions.list({}, { signal }),
})

export const ownInvitesQuery = queryOptions({
  queryKey: ['me', 'invites'],
  queryFn: ({ signal }) => api.ownInvites.list({}, { signal }),
})
