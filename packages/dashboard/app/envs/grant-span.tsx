import { Select } from '@mantine/core'
import { durationText } from '../ui/durations.ts'

const hour = 3600
const day = 24 * hour
const spans = [hour, 8 * hour, day, 7 * day, 30 * day]

/** A field for how long access lasts. `null` means that it lasts until somebody revokes it. */
export function GrantSpan(props: { label: string; value: number | null; onChange: (seconds: number | null) => void }) {
  const { label, value, onChange } = props
  const known = value === null || spans.includes(value) ? spans : [...spans, value].sort((a, b) => a - b)
  return (
    <Select
      label={label}
      description="The server ends the access then. The person may have kept the key, so re-key afterwards."
      data={[
        { value: 'always', label: 'Until it is revoked' },
        ...known.map((seconds) => ({ value: `${seconds}`, label: durationText(seconds) })),
      ]}
      value={value === null ? 'always' : `${value}`}
      onChange={(chosen) => onChange(chosen === null || chosen === 'always' ? null : Number(chosen))}
      allowDeselect={false}
    />
  )
}
