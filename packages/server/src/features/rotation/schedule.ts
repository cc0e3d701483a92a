/** Up to so much of an interval is added, so that policies that were made together do not run together for ever. */
const jitter = 0.05
const firstPauseSeconds = 60

const later = (from: string, seconds: number) =>
  new Date(Date.parse(from) + seconds * 1000 * (1 + Math.random() * jitter)).toISOString()

/** When the next run is due after one that has worked. */
export const nextAfter = (from: string, intervalSeconds: number): string => later(from, intervalSeconds)

/** When it is tried again after so many failures in a row: twice as late each time, within the interval. */
export const retryAfter = (from: string, intervalSeconds: number, failureStreak: number): string =>
  later(from, Math.min(intervalSeconds, firstPauseSeconds * 2 ** Math.min(failureStreak - 1, 20)) / (1 + jitter))

/** When an active policy runs next, counted from its last run: what is overdue runs at once. */
export function dueAt(lastRunAt: string | null, now: string, intervalSeconds: number): string {
  const due = nextAfter(lastRunAt ?? now, intervalSeconds)
  return due < now ? now : due
}
