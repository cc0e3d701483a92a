/** Up to this part of an interval is added, so that policies that were made together do not always run together. */
const jitter = 0.05
const firstPauseSeconds = 60

const later = (from: string, seconds: number) =>
  new Date(Date.parse(from) + seconds * 1000 * (1 + Math.random() * jitter)).toISOString()

/** Returns when the next run is due after a success. */
export const nextAfter = (from: string, intervalSeconds: number): string => later(from, intervalSeconds)

/** Returns when a policy is retried after this many failures in a row. The pause doubles, up to the interval. */
export const retryAfter = (from: string, intervalSeconds: number, failureStreak: number): string =>
  later(from, Math.min(intervalSeconds, firstPauseSeconds * 2 ** Math.min(failureStreak - 1, 20)) / (1 + jitter))

/** Returns when an active policy runs next, counted from its last run. An overdue policy runs at once. */
export function dueAt(lastRunAt: string | null, now: string, intervalSeconds: number): string {
  const due = nextAfter(lastRunAt ?? now, intervalSeconds)
  return due < now ? now : due
}
