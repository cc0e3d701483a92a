import { Badge, Text } from '@mantine/core'

const states = {
  untested: { color: 'gray', label: 'not verified' },
  unverified: { color: 'gray', label: 'not verified' },
  ready: { color: 'sea', label: 'ready' },
  failing: { color: 'red', label: 'failing' },
  paused: { color: 'red', label: 'paused' },
} as const

/** Whether a target or a destination answered when it was last tried, and what it said if it did not. */
export function VerifiedState({ status, lastError }: { status: keyof typeof states; lastError: string | null }) {
  const { color, label } = states[status]
  return (
    <>
      <Badge color={color} variant="light">
        {label}
      </Badge>
      {lastError && (
        <Text size="xs" c="red" lineClamp={2} title={lastError}>
          {lastError}
        </Text>
      )}
    </>
  )
}
