import { Button, Select, Stack, Text } from '@mantine/core'
import { useAction } from '../action.ts'
import { keyring, usePlaintext } from '../keyring.ts'
import type { Entry } from '../secrets/columns.ts'
import { DifferenceLines } from '../ui/difference-lines.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Line } from '../worker/diff-lines.ts'
import { explainEarlier } from './earlier-key.ts'
import { placedVersion } from './placed-version.ts'
import type { Version, VersionHistory } from './queries.ts'

/** The lines that lead from another version to this one. */
interface Difference {
  from: number
  lines: Line[]
}

/**
 * Compares a version with the one before it, or with another one that the person chooses. The keyring's worker computes
 * the difference. It is dropped when it is hidden or the keyring locks.
 */
export function useDifference(entry: Entry, history: VersionHistory, to: Version) {
  const { versions } = history
  const [difference, setDifference] = usePlaintext<Difference | null>(null)
  const before = versions[versions.indexOf(to) + 1]
  const compare = useAction(async (from: Version) => {
    const [before, after] = [placedVersion(entry, history, from), placedVersion(entry, history, to)]
    try {
      const lines = await keyring.call('diffVersions', { before, after })
      setDifference({ from: from.version, lines })
    } catch (error) {
      throw explainEarlier(error, 'one of these versions was')
    }
  })
  const button = before && (
    <Button
      size="compact-xs"
      variant="default"
      loading={compare.pending}
      aria-expanded={difference !== null}
      aria-label={`${difference ? 'Hide difference' : 'Difference'} of version ${to.version}`}
      onClick={() => (difference ? setDifference(null) : void compare.run(before))}
    >
      {difference ? 'Hide difference' : 'Difference'}
    </Button>
  )
  const choose = (version: string | null) => {
    const from = versions.find((one) => `${one.version}` === version)
    if (from) void compare.run(from)
  }
  const shown = (
    <>
      <ProblemAlert error={compare.error} />
      {difference && <Shown difference={difference} others={versions.filter((one) => one !== to)} onChoose={choose} />}
    </>
  )
  return { button, shown }
}

function Shown(props: { difference: Difference; others: Version[]; onChoose: (version: string | null) => void }) {
  const { difference, others, onChoose } = props
  const { from, lines } = difference
  return (
    <Stack gap="xs">
      {others.length > 1 && (
        <Select
          size="xs"
          w={180}
          label="Compared with"
          allowDeselect={false}
          data={others.map(({ version }) => ({ value: `${version}`, label: `Version ${version}` }))}
          value={`${from}`}
          onChange={onChoose}
        />
      )}
      {lines.every(({ kind }) => kind === 'same') && <Text size="xs">Both versions have the same value.</Text>}
      <div className="framed">
        <DifferenceLines lines={lines} />
      </div>
    </Stack>
  )
}
