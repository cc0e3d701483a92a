import { Badge, Text } from '@mantine/core'
import type { Rotation } from './queries.ts'

const failedTimes = (count: number) => (count === 1 ? 'failed once' : `failed ${count} times`)

/** Shows whether a rotation is active, and why its last run failed. */
export function RotationState({ rotation: { status, failureStreak, lastError } }: { rotation: Rotation }) {
  const isFailing = failureStreak > 0
  const state = isFailing ? failedTimes(failureStreak) : status
  return (
    <>
      <Badge color={isFailing ? 'red' : status === 'paused' ? 'gray' : 'sea'} variant="light">
        {isFailing && status === 'paused' ? `paused, ${state}` : state}
      </Badge>
      {lastError !== null && (
        <Text size="xs" c="red" lineClamp={3} title={lastError} style={{ wordBreak: 'break-word' }}>
          {lastError}
        </Text>
      )}
    </>
  )
}
