import { Alert, Badge, Group, Paper, Stack, Text } from '@mantine/core'
import { isSecretChange } from '@skerry/sdk/secret-change'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Differences, useComparisons } from '../../../../changes/difference.tsx'
import { StatusBadge, titleOf } from '../../../../changes/labels.tsx'
import { type ChangeRequest, changeQuery, type Review, togetherQuery } from '../../../../changes/queries.ts'
import { environmentLabelsQuery } from '../../../../people/environment-labels.ts'
import { useNameOf } from '../../../../secrets/use-name-of.ts'
import { CommandLine } from '../../../../ui/command-line.tsx'
import { EnvName } from '../../../../ui/env-name.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page, Section } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'

// Loaded while the values are compared.
const SecretsDecision = lazy(async () => ({
  default: (await import('../../../../changes/decision.tsx')).SecretsDecision,
}))
// Loaded when a re-key is reviewed.
const RekeyReview = lazy(async () => ({
  default: (await import('../../../../changes/rekey-review.tsx')).RekeyReview,
}))

export const Route = createFileRoute('/_app/orgs/$org/changes/$change')({
  loader: ({ context: { queryClient, org }, params }) =>
    void queryClient.prefetchQuery(changeQuery(org.id, params.change)),
  component: ChangePage,
})

function ChangePage() {
  const { org } = Route.useRouteContext()
  const { change } = Route.useParams()
  const query = useQuery(changeQuery(org.id, change))
  return (
    <Loaded query={query}>
      {({ changeRequest, reviews }) => <Change key={change} change={changeRequest} reviews={reviews} />}
    </Loaded>
  )
}

function Change({ change, reviews }: { change: ChangeRequest; reviews: Review[] }) {
  const { org } = Route.useRouteContext()
  const { data: together = [] } = useQuery(togetherQuery(org.id, change))
  const ofSecrets = together.filter(isSecretChange)
  const compared = useComparisons(change.status === 'open' ? ofSecrets : [])
  const isOpenRekey = change.status === 'open' && !isSecretChange(change)
  return (
    <Page
      title={titleOf(change)}
      crumbs={[{ label: 'Changes', link: { to: '/orgs/$org/changes', params: { org: org.slug } } }]}
      about={
        <span>
          <Where change={change} />
        </span>
      }
      actions={<StatusBadge status={change.status} />}
      width="text"
    >
      <ProposerEnd change={change} />
      {change.note && (
        <Section title="Why">
          <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {change.note}
          </Text>
        </Section>
      )}
      {change.status === 'superseded' && (
        <Text size="sm" mb="lg">
          This change was not applied: {movedWords(change)} has changed since it was proposed, or its environment got a
          new key. Propose it again if you still want it.
        </Text>
      )}
      {change.status === 'open' && isSecretChange(change) && <Differences compared={compared} />}
      {isOpenRekey && (
        <Suspense>
          <RekeyReview change={change} />
        </Suspense>
      )}
      {change.status !== 'open' && together.length > 1 && (
        <Section title="Secrets">
          <Text size="sm" className="mono">
            {ofSecrets.map(({ secretName }) => secretName).join(', ')}
          </Text>
        </Section>
      )}
      <Reviews change={change} reviews={reviews} />
      {change.status === 'open' && isSecretChange(change) && (
        <Suspense>
          <SecretsDecision change={change} compared={compared} />
        </Suspense>
      )}
      <CommandLine command={`skerry changes show ${change.groupId ?? change.id} --org ${org.slug}`} />
    </Page>
  )
}

const movedWords = (change: ChangeRequest): string => {
  if (!isSecretChange(change)) return 'a secret or a reader of the environment'
  return change.groupSize > 1 ? 'a secret' : 'the secret'
}

/** A change stays open when its proposer loses access, so its page says it to the approvers. */
function ProposerEnd({ change: { status, proposerEnded, proposerEndedAt } }: { change: ChangeRequest }) {
  if (status !== 'open' || !proposerEnded) return null
  return (
    <Alert color="yellow" variant="light" mb="lg">
      {proposerEnded === 'revoked' ? 'The proposer was revoked' : 'The proposer was removed from the organization'}
      {proposerEndedAt && (
        <>
          {' '}
          <RelativeTime at={proposerEndedAt} />
        </>
      )}
      . Approve this only if you know where it comes from. Otherwise reject it.
    </Alert>
  )
}

function Where({ change }: { change: ChangeRequest }) {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  const place = places?.find(({ id }) => id === change.environmentId)
  return (
    <>
      In{' '}
      <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: change.environmentId }} size="sm">
        {place ? <EnvName name={place.label} slug={place.slug} solid /> : change.environmentId}
      </AnchorLink>
      , proposed by {nameOf(change.proposedById)} <RelativeTime at={change.createdAt} />
      {change.groupSize === 1 && change.baseVersion > 0 && `, on version ${change.baseVersion}`}
      {change.closedAt !== null && (
        <>
          . Closed <RelativeTime at={change.closedAt} />
        </>
      )}
      .
    </>
  )
}

function Reviews({ change, reviews }: { change: ChangeRequest; reviews: Review[] }) {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const approvals = reviews.filter(({ decision }) => decision === 'approve').length
  return (
    <Section title="Reviews" description={`${approvals} of ${change.requiredApprovals} needed approvals.`}>
      <Stack gap="xs">
        {reviews.map((review) => (
          <Paper key={review.id} p="sm">
            <Group gap="xs">
              <Badge color={review.decision === 'approve' ? 'sea' : 'red'} variant="light">
                {review.decision === 'approve' ? 'approved' : 'rejected'}
              </Badge>
              <Text size="sm" fw={500}>
                {nameOf(review.reviewerId)}
              </Text>
              <Text size="xs" c="dimmed">
                <RelativeTime at={review.createdAt} />
              </Text>
            </Group>
            {review.comment && (
              <Text size="sm" mt={6} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {review.comment}
              </Text>
            )}
          </Paper>
        ))}
      </Stack>
    </Section>
  )
}
