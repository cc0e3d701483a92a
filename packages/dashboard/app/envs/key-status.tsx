import { Badge } from '@mantine/core'
import type { Checked } from './pins.ts'

const statuses = {
  first: { color: 'gray', says: 'not compared' },
  verified: { color: 'sea', says: 'compared' },
  changed: { color: 'red', says: 'another key than before' },
}

/** Shows whether this person has compared a key, and whether it has changed since. */
export function KeyStatus({ checked, isSelf }: { checked: Checked | undefined; isSelf: boolean }) {
  if (!checked) return null
  const { color, says } = isSelf ? { color: 'gray', says: 'yours' } : statuses[checked.status]
  return (
    <Badge size="sm" color={color} variant="light">
      {says}
    </Badge>
  )
}
