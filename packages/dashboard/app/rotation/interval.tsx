import { Group, NumberInput, Select } from '@mantine/core'
import { limits } from '@skerry/contract/limits'

const units = [
  { value: '60', label: 'minutes' },
  { value: '3600', label: 'hours' },
  { value: '86400', label: 'days' },
]

/** An interval as typed: a number and its unit. */
export interface Interval {
  count: string
  unit: string
}

export const secondsOf = ({ count, unit }: Interval): number => Number(count) * Number(unit)

/** Converts seconds to the largest unit that gives a whole number. */
export function intervalOf(seconds: number): Interval {
  const unit = units.findLast(({ value }) => seconds % Number(value) === 0)?.value ?? '60'
  return { count: String(Math.ceil(seconds / Number(unit))), unit }
}

/** Returns what is wrong with an interval, or null. */
export function intervalProblem(interval: Interval): string | null {
  const seconds = secondsOf(interval)
  if (!Number.isInteger(seconds) || seconds < limits.rotationIntervalMinSeconds) return 'At least 5 minutes.'
  return seconds > limits.rotationIntervalMaxSeconds ? 'At most 365 days.' : null
}

export function IntervalField({ value, onChange }: { value: Interval; onChange: (value: Interval) => void }) {
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <NumberInput
        label="Every"
        flex={1}
        min={1}
        allowDecimal={false}
        value={value.count}
        error={intervalProblem(value)}
        onChange={(to) => onChange({ ...value, count: String(to) })}
      />
      <Select
        label="Unit"
        w={130}
        data={units}
        value={value.unit}
        allowDeselect={false}
        onChange={(unit) => onChange({ ...value, unit: unit ?? value.unit })}
      />
    </Group>
  )
}
