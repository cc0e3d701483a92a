import { Badge, Text } from '@mantine/core'

const states = {
  untested: { color: 'gray', label: 'not verified' },
  unverified: { color: 'gray', label: 'not verified' },
  ready: { color: 'sea', label: 'ready' },
  failing: { color: 'red', label: 'failing' },
  paused: { color: 'red', label: 'paused' },
} as const

/** Shows whether the last check of a target or destination succeeded, and its error if not. */
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
