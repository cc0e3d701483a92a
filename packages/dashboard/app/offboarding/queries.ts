import type { Answer } from '@skerry/contract/endpoint'
import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import type { Offboarding } from '@skerry/sdk/internal/offboarding'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'

export type Preview = Answer<typeof offboardings.preview>['preview']

/** All queries about offboardings. */
export const offboardingQueries = (orgId: string) => orgQueries(orgId, 'offboardings')

/** All offboardings, for admins. */
export const offboardingsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'offboardings', 'list'],
    queryFn: ({ signal }) => api.offboardings.list({ params: { orgId } }, { signal }),
  })

/** The effects of an offboarding of this person. Nothing is changed. */
export const previewQuery = (orgId: string, userId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'offboardings', 'preview', userId],
    queryFn: ({ signal }) => api.offboardings.preview({ params: { orgId, userId } }, { signal }),
    staleTime: 0,
  })

/** An offboarding with all its rows. */
export const offboardingQuery = (orgId: string, offboardingId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'offboardings', offboardingId],
    queryFn: async ({ signal }) => {
      const params = { orgId, offboardingId }
      const [{ offboarding }, { rows }] = await Promise.all([
        api.offboardings.get({ params }, { signal }),
        api.offboardings.rows({ params }, { signal }),
      ])
      return { offboarding, rows }
    },
  })

export const nameOfLeaver = ({ name, email, userId }: Pick<Offboarding, 'name' | 'email' | 'userId'>): string =>
  name ?? email ?? userId

export const progressOf = ({ rows, open }: Pick<Offboarding, 'rows' | 'open'>): string => `${rows - open} of ${rows}`
