import { Alert, Badge, Button, Group, List as Items, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { Words } from '../envs/fingerprint.tsx'
import { KeyStatus } from '../envs/key-status.tsx'
import { useChecked } from '../envs/pins.ts'
import { keyring } from '../keyring.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { orgQueries } from '../queries.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useDialog } from '../ui/use-dialog.ts'
import { acceptedRecoveryKey, ownKeysOf, recoveryHolder } from './covering.ts'
import type { RecoveryDialogKind } from './dialogs.tsx'
import { type Configured, type Recovery, recoveryQuery } from './queries.ts'

// This part of the page is loaded when it first opens.
const RecoveryDialog = lazy(async () => ({ default: (await import('./dialogs.tsx')).RecoveryDialog }))

/** Shows admins the recovery key, its custodians, and the environments that it covers. */
export function Status() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(recoveryQuery(org.id))
  const dialog = useDialog<RecoveryDialogKind>()
  return (
    <>
      <Loaded query={query}>
        {({ recovery, coverage }) =>
          recovery === null ? (
            <NotSetUp onSetUp={() => dialog.open('set-up')} />
          ) : (
            <>
              <RecoveryKey recovery={recovery} coverage={coverage} onOpen={dialog.open} />
              <Coverage coverage={coverage} />
            </>
          )
        }
      </Loaded>
      <Suspense>
        {dialog.show((onClose, kind) => (
          <RecoveryDialog kind={kind} recovery={query.data?.recovery ?? null} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

function NotSetUp({ onSetUp }: { onSetUp: () => void }) {
  return (
    <Section title="Recovery key">
      <Empty title="Recovery is not set up" action={<Button onClick={onSetUp}>Set it up</Button>}>
        A person who forgets a passphrase loses what they could read, and where nobody else holds a key, its secrets are
        lost for good. With recovery, several custodians together can open them again; none of them can alone, and
        neither can this server.
      </Empty>
    </Section>
  )
}

function RecoveryKey(props: {
  recovery: Recovery
  coverage: Configured['coverage']
  onOpen: (kind: RecoveryDialogKind) => void
}) {
  const { recovery, coverage, onOpen } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const { custodians, threshold, recoveryPublicKeyJwk, lastDrillAt } = recovery
  const checked = useChecked([recoveryHolder(org.id, recoveryPublicKeyJwk)])?.[0]
  return (
    <Section
      title="Recovery key"
      description={`Any ${threshold} of ${custodians.length} custodians together open what it covers.`}
      actions={
        <>
          {checked && checked.status !== 'verified' && (
            <Button variant="default" onClick={() => onOpen('compare')}>
              Compare the words…
            </Button>
          )}
          <Button variant="default" onClick={() => onOpen('rotate')}>
            Rotate…
          </Button>
          <Button variant="light" color="red" onClick={() => onOpen('disable')}>
            End recovery…
          </Button>
        </>
      }
    >
      <Stack gap="sm">
        {checked && (
          <>
            <Words words={checked.words} label="Fingerprint of the recovery key" />
            <KeyStatus checked={checked} isSelf={false} />
          </>
        )}
        {checked?.status === 'changed' && (
          <Alert color="red" variant="light" role="alert" title="This is another recovery key than before">
            Ask the person who rotated it, not through this server, and compare the words before anything is covered by
            it.
          </Alert>
        )}
        {coverage.custodiansGone > 0 && (
          <Alert color="orange" variant="light" title="Custodians are missing">
            {coverage.custodiansGone === 1 ? 'One custodian has' : `${coverage.custodiansGone} custodians have`} left or
            replaced their keys, and their shares with them. Rotate the recovery key to make new shares.
          </Alert>
        )}
        {custodians.length < threshold && (
          <Alert color="red" variant="light" role="alert" title="Nothing can be recovered">
            Fewer custodians are left than shares are needed. Rotate the recovery key.
          </Alert>
        )}
        <Paper p="md">
          <Text size="sm" fw={500} mb={4}>
            Custodians
          </Text>
          <Group gap="xs">
            {custodians.map(({ userId, shareIndex }) => (
              <Badge key={userId} variant="default" tt="none">
                {nameOf(userId)}, share {shareIndex}
              </Badge>
            ))}
          </Group>
          <Text size="sm" c="dimmed" mt="sm">
            {lastDrillAt === null ? (
              'No drill has passed yet. Begin one to check that custodians still have their shares.'
            ) : (
              <>
                The last drill passed <RelativeTime at={lastDrillAt} />.
              </>
            )}
          </Text>
        </Paper>
      </Stack>
    </Section>
  )
}

function Coverage({ coverage }: { coverage: Configured['coverage'] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  const labelOf = (id: string) => places?.find((place) => place.id === id)?.label ?? id
  const { unprotectedEnvIds, total } = coverage
  const cover = useAction(
    async () => {
      const recoveryPublicKeyJwk = await acceptedRecoveryKey(org.id)
      if (recoveryPublicKeyJwk === null) return
      const wrapped = await ownKeysOf(org.id, unprotectedEnvIds)
      const grants = await keyring.call('coverEnvironments', { wrapped, recoveryPublicKeyJwk })
      if (grants.length > 0) await api.recovery.cover({ params: { orgId: org.id }, body: { grants } })
      showToast(
        grants.length === 0 ? 'You hold none of these keys.' : `${grants.length} of ${wrapped.length} are covered now.`,
      )
    },
    { stale: [orgQueries(org.id, 'recovery')] },
  )
  return (
    <Section
      title="Coverage"
      description={`${coverage.protected} of ${total} environments can be recovered.`}
      actions={
        unprotectedEnvIds.length > 0 && (
          <Button variant="default" loading={cover.pending} onClick={() => cover.run()}>
            Cover what I can read
          </Button>
        )
      }
    >
      <ProblemAlert error={cover.error} />
      {unprotectedEnvIds.length > 0 && (
        <Alert color="orange" variant="light" title="Not covered">
          <Items size="sm">
            {unprotectedEnvIds.map((id) => (
              <Items.Item key={id}>{labelOf(id)}</Items.Item>
            ))}
          </Items>
        </Alert>
      )}
    </Section>
  )
}
