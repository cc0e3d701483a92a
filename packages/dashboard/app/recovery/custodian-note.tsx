import { Alert } from '@mantine/core'
import { type SharesLeft, sharesWithout } from '@skerry/contract/recovery/custodians'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { AnchorLink } from '../ui/links.tsx'
import { ownShareQuery, recoveryQuery } from './queries.ts'

/** Warns that removing a member who is a custodian leaves fewer shares, and says what to do about it. */
export function CustodianNote({ userId, name }: { userId: string; name: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data, error } = useQuery({ ...recoveryQuery(org.id), enabled: org.role !== 'member' })
  if (error)
    return (
      <Alert color="yellow" variant="light" mt="sm" title="Could not check whether this person is a custodian">
        The recovery key could not be loaded. Open the page Recovery before you continue.
      </Alert>
    )
  const shares = data ? sharesWithout(data.recovery, userId) : null
  if (!shares) return null
  return (
    <Alert
      color={shares.isEnough ? 'yellow' : 'red'}
      variant="light"
      mt="sm"
      title={shares.isEnough ? `${name} is a custodian` : 'Without this custodian, recovery is not possible'}
    >
      {sharesText(shares)}{' '}
      <AnchorLink to="/orgs/$org/recovery" params={{ org: org.slug }} size="sm" underline="always">
        Rotate the recovery key
      </AnchorLink>{' '}
      to give shares to other custodians.
    </Alert>
  )
}

function sharesText({ left, threshold, isEnough }: SharesLeft): string {
  const remain = left === 1 ? '1 share of the recovery key remains' : `${left} shares of the recovery key remain`
  if (isEnough) return `${remain}, and ${threshold} are needed.`
  return `${remain}, but ${threshold} are needed: nothing could be recovered.`
}

/** Warns a custodian who leaves. A member sees only their own share, not how many others there are. */
export function OwnShareNote() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const share = useQuery({ ...ownShareQuery(org.id), enabled: org.role === 'member' }).data
  if (org.role !== 'member') return <CustodianNote userId={me.user?.id ?? ''} name="You" />
  if (!share) return null
  return (
    <Alert color="yellow" variant="light" mt="sm" title="You are a custodian">
      If you leave, your share of the recovery key is deleted. A recovery needs {share.threshold} shares. Tell an admin
      to rotate the recovery key.
    </Alert>
  )
}
