import type { billing } from '@skerry/contract/billing/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'

export type Billing = Answer<typeof billing.get>

export const billingQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'billing'],
    queryFn: ({ signal }) => api.billing.get({ params: { orgId } }, { signal }),
  })
