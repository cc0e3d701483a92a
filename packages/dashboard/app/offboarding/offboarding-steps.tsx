import { Alert, Button, Text } from '@mantine/core'
import { type Offboarding, type OffboardingRow, rekeyability } from '@skerry/sdk/internal/offboarding'
import { useRouteContext } from '@tanstack/react-router'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Step, Steps } from '../ui/steps.tsx'
import { kindWords } from './offboard-dialog.tsx'
import { isOpen, Rows } from './rows.tsx'
import type { useRekeying } from './use-rekeying.ts'

interface Props {
  offboarding: Offboarding
  rows: OffboardingRow[]
  name: string
  rekeying: ReturnType<typeof useRekeying>
}

/** The five steps of an offboarding. The server takes the first two when it starts. */
export function OffboardingSteps({ offboarding, rows, name, rekeying }: Props) {
  const isFinished = offboarding.finishedAt !== null
  const of = (kind: OffboardingRow['kind']) => rows.filter((row) => row.kind === kind)
  const [shares, environments, values] = [of('recovery_share'), of('rekey'), of('rotate_value')]
  const groups = [shares, environments, values]
  const firstOpen = groups.findIndex((group) => group.some(isOpen))
  const common = { offboardingId: offboarding.id, isFinished }
  const { revoked } = offboarding
  return (
    <Steps>
      <Step
        number={1}
        title={`Removed ${name} from the organization`}
        isDone
        isCurrent={false}
        action={
          <Text size="xs" c="dimmed">
            <RelativeTime at={offboarding.startedAt} />
          </Text>
        }
      />
      <Step
        number={2}
        title={revoked.length === 0 ? `${name} made no credential` : `Revoked the credentials of ${name}`}
        isDone
        isCurrent={false}
        isAlwaysOpen
      >
        {revoked.length > 0 && (
          <Text size="sm" c="dimmed">
            {revoked.map((one) => `${kindWords[one.kind]} ${one.name}`).join(', ')}
          </Text>
        )}
      </Step>
      <Step
        number={3}
        title={shares.length === 0 ? `${name} held no recovery share` : 'Replace the recovery share'}
        isDone={!shares.some(isOpen)}
        isCurrent={firstOpen === 0}
        isAlwaysOpen={shares.some(isOpen)}
      >
        {shares.length > 0 && <RecoveryShare offboarding={offboarding} name={name} />}
        <Rows label="Recovery share" rows={shares} {...common} />
      </Step>
      <Step
        number={4}
        title={`Re-key the environments that ${name} could read`}
        isDone={!environments.some(isOpen)}
        isCurrent={firstOpen === 1}
        isAlwaysOpen
        action={<Count rows={environments} />}
      >
        {!isFinished && <RekeyButton rows={environments} rekeying={rekeying} />}
        <Rows label="Environments to re-key" rows={environments} current={rekeying.current} {...common} />
      </Step>
      <Step
        number={5}
        title="Replace the values themselves"
        isDone={!values.some(isOpen)}
        isCurrent={firstOpen === 2}
        isAlwaysOpen
        action={<Count rows={values} />}
      >
        <Text size="sm" c="dimmed" mb="xs">
          A new key protects new values. {name} may remember the old ones: replace them at their source. A new value in
          Skerry ticks its row. {rotatable(values)}
        </Text>
        <Rows label="Values to replace" rows={values} {...common} />
      </Step>
    </Steps>
  )
}

function rotatable(values: OffboardingRow[]): string {
  const count = values.filter(({ rotationId }) => rotationId !== null).length
  return count === 0 ? '' : `${count} can be rotated on the page Rotation.`
}

const Count = ({ rows }: { rows: OffboardingRow[] }) => (
  <Text size="xs" c="dimmed">
    {rows.filter((row) => !isOpen(row)).length} of {rows.length}
  </Text>
)

function RecoveryShare({ offboarding, name }: { offboarding: Offboarding; name: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { recovery } = offboarding
  if (!recovery) return null
  const { sharesLeft, threshold } = recovery
  return (
    <Alert color={sharesLeft < threshold ? 'red' : 'yellow'} variant="light">
      {sharesLeft} shares remain without {name}, and a recovery needs {threshold}.{' '}
      <AnchorLink to="/orgs/$org/recovery" params={{ org: org.slug }} size="sm" underline="always">
        Rotate the recovery key
      </AnchorLink>{' '}
      to make new shares.
    </Alert>
  )
}

function RekeyButton({ rows, rekeying }: { rows: OffboardingRow[]; rekeying: Props['rekeying'] }) {
  const ready = rows.filter((row) => ['ready', 'to_propose'].includes(rekeyability(row)))
  const queued = ready.filter((row) => rekeyability(row) === 'to_propose').length
  return (
    <>
      <ProblemAlert error={rekeying.error} />
      {ready.length > 0 && (
        <Button size="compact-sm" mb="xs" loading={rekeying.pending} onClick={() => rekeying.run(rows)}>
          {ready.length === 1 ? 'Re-key 1 environment' : `Re-key ${ready.length} environments`}
        </Button>
      )}
      {queued > 0 && (
        <Text size="xs" c="dimmed" mb="xs">
          {queued === 1 ? '1 of them is protected: its' : `${queued} of them are protected: their`} new key is proposed
          as a change, which waits for approval.
        </Text>
      )}
    </>
  )
}
