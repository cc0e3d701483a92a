import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { passkeysQuery, secondFactorQuery } from '../queries.ts'

export const signInPasskeysQuery = queryOptions({
  queryKey: ['me', 'sign-in-passkeys'],
  queryFn: ({ signal }) => api.signInPasskeys.list({}, { signal }),
})

/** A passkey can serve for both unlocking and signing in, so a change makes all three queries stale. */
export const passkeyQueries = [passkeysQuery, secondFactorQuery, signInPasskeysQuery]

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
