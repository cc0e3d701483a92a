import { Tooltip } from '@mantine/core'
import type { ListColumn } from './list-row.tsx'

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

/** Shows an instant relative to now, such as `3 days ago`. A tooltip shows the exact time. */
export function RelativeTime({ at }: { at: string | null }) {
  if (at === null) return <>never</>
  return (
    <Tooltip label={exact.format(new Date(at))} withArrow>
      <time dateTime={at}>{relativeText(at)}</time>
    </Tooltip>
  )
}

/**
 * A column that shows a time and sorts by it. A list that comes in pages cannot sort, so it defines its time columns
 * itself.
 *
 * @example timeColumn('Changed', 'updatedAt', 140)
 */
export const timeColumn = <K extends string>(
  header: string,
  key: K,
  width?: number,
): ListColumn<Record<K, string | null>> => ({
  header,
  cell: (row) => <RelativeTime at={row[key]} />,
  sort: (row) => row[key],
  ...(width ? { width } : {}),
})

function relativeText(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000)
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return unit === 'second'
    ? seconds > 0
      ? 'in a moment'
      : 'just now'
    : relative.format(Math.round(seconds / length), unit)
}
