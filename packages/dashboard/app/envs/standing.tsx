import { Badge } from '@mantine/core'
import type { Checked } from './pins.ts'

const standings = {
  first: { color: 'gray', says: 'not compared' },
  verified: { color: 'sea', says: 'compared' },
  changed: { color: 'red', says: 'another key than before' },
}

/** Whether a key is the one that this person has compared. */
export function Standing({ checked, isSelf }: { checked: Checked | undefined; isSelf: boolean }) {
  if (!checked) return null
  const { color, says } = isSelf ? { color: 'gray', says: 'yours' } : standings[checked.standing]
  return (
    <Badge size="sm" color={color} variant="light">
      {says}
    </Badge>
  )
}
