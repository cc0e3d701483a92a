import { createHash } from 'node:crypto'

/** A job runs every `periodSeconds`, `offsetSeconds` after midnight UTC. The period divides a day. */
export interface Schedule {
  periodSeconds: number
  offsetSeconds: number
}

const minute = 60
export const hour = 60 * minute
const day = 24 * hour

export const everySeconds = (periodSeconds: number): Schedule => ({ periodSeconds, offsetSeconds: 0 })
export const everyMinutes = (minutes: number): Schedule => everySeconds(minutes * minute)
export const hourlyAt = (minutes: number): Schedule => ({ periodSeconds: hour, offsetSeconds: minutes * minute })

/** @param time in UTC, such as `03:23` */
export function dailyAt(time: string): Schedule {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return { periodSeconds: day, offsetSeconds: hours * hour + minutes * minute }
}

/** The number of the period that contains an instant. Every server counts the same periods. */
export const slotAt = ({ periodSeconds, offsetSeconds }: Schedule, nowMs: number): number =>
  Math.floor((nowMs / 1000 - offsetSeconds) / periodSeconds)

/** The id of the job of one period. A second server that adds the same job changes nothing. */
export const slotId = (name: string, slot: number): string => idOf('schedule', name, String(slot))

/** The id of a job that exists once for these parts. */
export function idOf(...parts: string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
