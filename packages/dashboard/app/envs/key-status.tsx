import { Badge } from '@mantine/core'
import type { Checked } from './pins.ts'

const statuses = {
  first: { color: 'gray', says: 'key not compared' },
  verified: { color: 'sea', says: 'key compared' },
  changed: { color: 'red', says: 'key has changed' },
}

/** Shows whether this person has compared a key, and whether it has changed since. */
export function KeyStatus({ checked, isSelf }: { checked: Checked | undefined; isSelf: boolean }) {
  if (!checked) return null
  const { color, says } = isSelf ? { color: 'gray', says: 'your key' } : statuses[checked.status]
  return (
    <Badge size="sm" color={color} variant="light">
      {says}
    </Badge>
  )
}
