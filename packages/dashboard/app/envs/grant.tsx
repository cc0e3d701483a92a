import { Checkbox, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { isFresh, orgQueries } from '../queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { requireListed } from '../trust/checks.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { GrantSpan } from './grant-span.tsx'
import { GranteeFields, useGrantee } from './grantee.tsx'
import type { Grantee } from './grantees.ts'
import { layersBelow } from './layers-below.ts'
import { checkMeanings } from './meanings.ts'
import { pin, shownNames } from './pins.ts'
import { grantOne } from './wrap-key.ts'

/** Grants the environment's key to someone after their key's words were compared. The keyring's worker wraps it. */
export function GrantDialog(props: { environment: Environment; grantees: Grantee[]; onClose: () => void }) {
  const { environment, grantees, onClose } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const grantee = useGrantee(org.id, grantees)
  const { to, checked, isReady } = grantee
  const query = useQuery({
    queryKey: ['orgs', org.id, 'envs', environment.id, 'below'],
    queryFn: () => layersBelow(org.id, environment),
    staleTime: 0,
  })
  const lowerLayers = query.data ?? []
  const [withLayers, setWithLayers] = useState(true)
  const [seconds, setSeconds] = useState<number | null>(null)
  const envIds = [environment.id, ...(withLayers ? lowerLayers.map(({ environmentId }) => environmentId) : [])]
  const grant = async () => {
    if (!to || !checked) return
    const { fingerprint } = checked
    await checkMeanings(envIds)
    await requireListed(org.id, [to])
    // First, because a signer vouches for keys that were compared.
    pin(to.principalId, fingerprint, shownNames(to))
    for (const envId of envIds) await grantOne(org.id, envId, { ...to, fingerprint }, seconds)
    showToast(`${to.label} can decrypt ${environment.name} now.`)
  }
  return (
    <FormDialog
      title={`Grant the key of ${environment.name}`}
      submit="Grant"
      onClose={onClose}
      onSubmit={grant}
      stale={envIds.map((envId) => orgQueries(org.id, 'envs', envId))}
      disabled={!isReady || !isFresh(query)}
      size="lg"
    >
      <GranteeFields grantee={grantee} />
      <GrantSpan label="For how long" value={seconds} onChange={setSeconds} />
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      {to && lowerLayers.length > 0 && (
        <Checkbox
          label={`Also grant the groups that are composed in: ${lowerLayers.map(({ label }) => label).join(', ')}`}
          description="Without these keys, their programs cannot start."
          checked={withLayers}
          onChange={(event) => setWithLayers(event.currentTarget.checked)}
        />
      )}
      {grantee.candidates.length === 0 && (
        <Text size="sm" c="dimmed">
          Every member and every token that can hold this key already holds it.
        </Text>
      )}
    </FormDialog>
  )
}
