import { Stack, Text } from '@mantine/core'
import { describeProblem } from '../ui/problem.tsx'
import type { RemovalFrom } from './remove.ts'
import { isConflict } from './write.ts'

/** Says which secrets were deleted and which were not, if a deletion failed. */
export function Removals({ removals }: { removals: RemovalFrom[] }) {
  if (removals.every(({ failed }) => failed.length === 0)) return null
  return (
    <Stack gap={4} role="alert">
      {removals.map(({ environmentId, where, deleted, queued, failed }) => (
        <div key={environmentId}>
          {deleted.length > 0 && (
            <Text size="sm">
              Deleted from {where}: {listOf(deleted.map(({ name }) => name))}
            </Text>
          )}
          {queued.length > 0 && (
            <Text size="sm">
              Waits for approval in {where}: {listOf(queued.map(({ name }) => name))}
            </Text>
          )}
          {failed.slice(0, shownMax).map(({ name, error }) => (
            <Text size="sm" className="matrix-broken" key={name}>
              Not deleted from {where}: <span className="mono">{name}</span>.{' '}
              {isConflict(error) ? 'Someone else changed it meanwhile.' : `${describeProblem(error).title}.`}
            </Text>
          ))}
          {failed.length > shownMax && <Text size="sm">and {failed.length - shownMax} more</Text>}
        </div>
      ))}
    </Stack>
  )
}

const shownMax = 10

const listOf = (names: string[]) =>
  names.length > shownMax
    ? `${names.slice(0, shownMax).join(', ')} and ${names.length - shownMax} more`
    : names.join(', ')
