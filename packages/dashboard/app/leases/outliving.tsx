import { Checkbox } from '@mantine/core'
import { leaseFacts } from '@skerry/contract/leases/facts'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { fetchCached, type Stale } from '../queries.ts'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { ledgerQuery } from './queries.ts'

/** Leases that a principal requested and whose credential may still work. */
const liveLeasesQuery = (orgId: string, requestedById: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'leases', 'live', requestedById],
    queryFn: async ({ signal }) =>
      (await api.leases.list({ params: { orgId }, query: { requestedById, live: 'true' } }, { signal })).leases,
    staleTime: 0,
  })

/**
 * Leases outlive the access of the principal who requested them. `field` says so in a dialog that ends the access, and
 * offers to end the leases too. Call `end` after the access has ended, so that no lease is added meanwhile. Pass
 * `stale` to the dialog.
 */
export function useOutlivingLeases(principalId: string) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: leases = [], isError } = useQuery(liveLeasesQuery(org.id, principalId))
  const [isEnding, setIsEnding] = useState(false)
  const count = leases.length === 1 ? 'One lease' : `${leases.length} leases`
  const field = isError ? (
    ' The leases could not be loaded, and may go on working.'
  ) : leases.length === 0 ? null : (
    <Checkbox
      mt="sm"
      label={leases.length === 1 ? 'End its lease, too' : `End its ${leases.length} leases, too`}
      description={`${count} would go on working until it expires. Certificates and cloud sessions cannot be revoked.`}
      checked={isEnding}
      onChange={(event) => setIsEnding(event.currentTarget.checked)}
    />
  )
  const stale: Stale[] = isEnding ? [ledgerQuery(org.id)] : []
  return { field, stale, end: async () => (isEnding ? endLeases(org.id, principalId) : undefined) }
}

async function endLeases(orgId: string, principalId: string): Promise<void> {
  try {
    const leases = await fetchCached(liveLeasesQuery(orgId, principalId))
    const revocable = leases.filter(({ provider }) => leaseFacts[provider].revocable)
    const ends = revocable.map(({ id }) => api.leases.revoke({ params: { orgId, leaseId: id } }))
    const failed = (await Promise.allSettled(ends)).filter(({ status }) => status === 'rejected').length
    if (failed > 0) showErrorToast('Not every lease has ended', `Revoke the other ${failed} under Leases.`)
    else showToast(revocable.length === 1 ? 'Its lease has ended.' : `Its ${revocable.length} leases have ended.`)
  } catch (error) {
    showErrorToast('Its leases have not ended', (error as Error).message)
  }
}
