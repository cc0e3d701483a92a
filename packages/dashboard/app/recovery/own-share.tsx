import { Button, Text } from '@mantine/core'
import { SkerryError } from '@skerry/sdk/errors'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { keyring } from '../keyring.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { knownRecoveryKey } from './covering.ts'
import { type OwnShare, ownShareQuery } from './queries.ts'

/** Shows custodians their own share, and lets them check it. */
export function OwnShareSection() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const share = useQuery(ownShareQuery(org.id)).data
  const check = useAction(async ({ wrappedShare, shareIndex, threshold }: OwnShare) => {
    const recoveryPublicKeyJwk = (await knownRecoveryKey(org.id)) ?? ''
    const place = { orgId: org.id, shareIndex, threshold }
    if (!(await keyring.call('checkShare', { wrappedShare, recoveryPublicKeyJwk, place })))
      throw new SkerryError('conflict', 'your share does not belong to the recovery key')
    showToast('Your share opens, and belongs to the recovery key.')
  })
  if (!share) return null
  return (
    <Section
      title="Your share"
      description={`You are a custodian: you hold share ${share.shareIndex}, and any ${share.threshold} open the recovery key.`}
      actions={
        <Button variant="default" loading={check.pending} onClick={() => check.run(share)}>
          Check it
        </Button>
      }
    >
      <ProblemAlert error={check.error} />
      <Text size="sm" c="dimmed">
        Your keyring opens it: if you replace your key pair, you lose your share. Give it only to somebody whose words
        you compared over the phone or in person.
      </Text>
    </Section>
  )
}
