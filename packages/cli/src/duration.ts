import { usage } from './failure.ts'

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Parses the value of an option: `30s`, `15m`, `24h` or `7d` into seconds. The unit is required. */
export function parseDuration(text: string, option: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (digits === undefined)
    throw usage(`${option} must be a duration (you gave '${text}')`, 'write 30s, 15m, 24h or 7d')
  return Number(digits) * unitSeconds[unit as keyof typeof unitSeconds]
}

/**
 * Parses the end of a period: a duration, or a date such as `2030-01-31`, which ends at midnight UTC.
 *
 * @returns the seconds from now
 */
export function parseEnd(text: string, option: string): number {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return parseDuration(text, option)
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw usage(`${option} is not a date (you gave '${text}')`, 'write 2030-01-31, or 30d')
  const seconds = Math.floor((at - Date.now()) / 1000)
  if (seconds <= 0) throw usage(`${option} is in the past (you gave '${text}')`, 'write a later date, or 30d')
  return seconds
}

/** Formats seconds in the largest unit that is still precise: `45 s`, `12 min`, `5 h`, `3 d`. */
export function formatAge(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

const agoUnits = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Formats an instant in the time zone of this machine: `2026-12-04 21:30`, or with seconds. */
export function formatLocal(instant: string, precision: 'minutes' | 'seconds' = 'minutes'): string {
  const at = new Date(instant)
  const parts = (numbers: number[], between: string) =>
    numbers.map((number) => String(number).padStart(2, '0')).join(between)
  const date = parts([at.getFullYear(), at.getMonth() + 1, at.getDate()], '-')
  const time = [at.getHours(), at.getMinutes(), ...(precision === 'seconds' ? [at.getSeconds()] : [])]
  return `${date} ${parts(time, ':')}`
}

/** Formats an instant for a person: `2 hours ago`, and the date if it is more than 30 days ago. */
export function formatAgo(instant: string, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - Date.parse(instant)) / 1000)
  if (!(seconds < 31 * 86_400)) return instant.slice(0, 'YYYY-MM-DD'.length)
  const [unit, length] = agoUnits.find(([, each]) => seconds >= each) ?? []
  if (unit === undefined) return 'just now'
  const count = Math.floor(seconds / length!)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}
