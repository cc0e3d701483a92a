import { Alert, Box, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import { unlockPrompt } from '../prompts.ts'
import { DifferenceLines } from '../ui/difference-lines.tsx'
import { IconEye, IconEyeOff, IconLock } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Line } from '../worker/diff-lines.ts'
import { actionLabel } from './labels.tsx'
import type { SecretChange } from './queries.ts'
import { type Sides, sidesQuery } from './sides.ts'

type Comparison = 'new' | 'changed' | 'same' | 'deleted' | 'unreadable'
type Restored = 'same' | 'different' | 'unproven' | null

const says: Record<Comparison, string> = {
  new: 'The secret does not exist yet.',
  changed: 'The proposed value differs from the current one.',
  same: 'The proposed value is the same as the current one.',
  deleted: 'The secret is deleted. Programs no longer get it.',
  unreadable: 'The key of this environment does not decrypt the proposed value.',
}

/**
 * Loads both sides of each change as ciphertext. The keyring's worker decrypts and compares them, and answers with one
 * word.
 */
export function useComparisons(changes: SecretChange[]) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const unlocked = useUnlocked()
  const sides = useQueries({ queries: changes.map((change) => sidesQuery(org.id, change)) })
  const sealed = sides.map(({ data }) => (data ? sealedOf(data) : null))
  const comparisons = useQueries({
    queries: changes.map((change, i) => ({
      queryKey: ['orgs', org.id, 'changes', change.id, 'comparison', sealed[i], sides[i]?.data?.restored],
      queryFn: () => compare(sealed[i]!, sides[i]?.data?.restored ?? null),
      enabled: unlocked && sealed[i] != null,
      throwOnError: false,
    })),
  })
  return changes.map((change, i) => ({
    change,
    sides: sides[i]!,
    sealed: sealed[i] ?? null,
    comparison: comparisons[i]!,
  }))
}

/** Compares both sides, and a restore with the version that it names. */
async function compare(sealed: NonNullable<ReturnType<typeof sealedOf>>, restored: Sides['restored']) {
  const comparison: Comparison = await keyring.call('compareSides', sealed)
  if (restored === null || comparison === 'unreadable') return { comparison, restored: null }
  return { comparison, restored: await keyring.call('compareRestored', { ...sealed, restored }) }
}

/** Returns what the worker compares, or null if the proposed value was deleted. */
const sealedOf = ({ wrappedDek, environmentId, name, current, proposed }: Sides) =>
  proposed === undefined ? null : { wrappedDek, environmentId, name, current, proposed }

export type Compared = ReturnType<typeof useComparisons>[number]

/** Shows how changes would alter the values. The values are masked until the person reveals them. */
export function Differences({ compared }: { compared: Compared[] }) {
  const isGroup = compared.length > 1
  return (
    <Section
      title={isGroup ? 'Differences' : 'Difference'}
      description="Decrypted in this browser. The server knows neither value."
    >
      <Stack>
        {compared.map((one) => (
          <Box key={one.change.id}>
            {isGroup && (
              <Text size="sm" fw={500} mb={4}>
                {actionLabel(one.change)} <span className="mono">{one.change.secretName}</span>
              </Text>
            )}
            <Shown compared={one} />
          </Box>
        ))}
      </Stack>
    </Section>
  )
}

function Shown({ compared: { change, sides, sealed, comparison } }: { compared: Compared }) {
  const unlocked = useUnlocked()
  if (sides.error) return <ProblemAlert error={sides.error} retry={() => sides.refetch()} />
  if (sides.data === undefined) return null
  if (sides.data === null)
    return (
      <Alert color="gray" variant="light" title="You hold no key of this environment">
        Without it you cannot see the values. Ask a holder of the key to grant it to you.
      </Alert>
    )
  if (sealed === null)
    return (
      <Alert color="gray" variant="light" title="The value is gone">
        It was deleted together with its secret.
      </Alert>
    )
  if (!unlocked)
    return (
      <Button
        variant="default"
        leftSection={<IconLock size={16} />}
        onClick={() => void unlockPrompt.ask().catch(() => {})}
      >
        Unlock to compare
      </Button>
    )
  if (comparison.error) return <ProblemAlert error={comparison.error} retry={() => comparison.refetch()} />
  if (!comparison.data) return null
  if (comparison.data.comparison === 'unreadable')
    return (
      <Alert color="red" variant="light" role="alert" title={says.unreadable}>
        It was encrypted with another key, or somebody altered it. Programs could not start with it, so reject this
        change.
      </Alert>
    )
  return (
    <>
      <RestoredAlert restored={comparison.data.restored} change={change} />
      <Values comparison={comparison.data.comparison} sealed={sealed} />
    </>
  )
}

function RestoredAlert({ restored, change }: { restored: Restored; change: SecretChange }) {
  const original = change.deletedSecretId == null ? `version ${change.restoreVersion}` : 'the deleted secret'
  if (restored === 'different')
    return (
      <Alert color="red" variant="light" role="alert" title={`The proposed value is not that of ${original}`}>
        The change says that it restores {original}, but the proposer encrypted another value: reject it.
      </Alert>
    )
  if (restored === 'unproven')
    return (
      <Alert color="yellow" variant="light" title={`Nobody can compare the value with ${original}`}>
        Nothing proves the value of {original}, or it does not open. Read the proposed value before you approve it.
      </Alert>
    )
  return null
}

function Values(props: { comparison: Comparison; sealed: NonNullable<Compared['sealed']> }) {
  const { comparison, sealed } = props
  const [lines, setLines] = usePlaintext<Line[] | null>(null)
  const reveal = useAction(async () => setLines(lines ? null : await keyring.call('diffSides', sealed)))
  return (
    <Paper p="md">
      <Group justify="space-between" mb="sm">
        <Text size="sm">{says[comparison]}</Text>
        <Button
          variant="default"
          size="xs"
          loading={reveal.pending}
          leftSection={lines ? <IconEyeOff size={16} /> : <IconEye size={16} />}
          onClick={() => reveal.run()}
        >
          {lines ? 'Hide values' : 'Reveal values'}
        </Button>
      </Group>
      <ProblemAlert error={reveal.error} />
      <DifferenceLines lines={lines ?? masked(comparison)} />
    </Paper>
  )
}

const dots = '••••••••••••'

/** Returns one masked line for each side, so that the mask does not reveal how long a value is. */
function masked(comparison: Comparison): Line[] {
  if (comparison === 'same') return [{ kind: 'same', text: dots }]
  const removed: Line[] = comparison === 'new' ? [] : [{ kind: 'removed', text: dots }]
  return comparison === 'deleted' ? removed : [...removed, { kind: 'added', text: dots }]
}
