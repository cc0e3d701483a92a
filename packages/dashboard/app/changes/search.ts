import { type ChangeFilter, type Status, statuses } from './queries.ts'

/** Returns the filter in an address. Unknown values are dropped. */
export function filterOf(search: Record<string, unknown>): ChangeFilter {
  const { status, env } = search
  const known = status === 'all' || statuses.includes(status as Status)
  return {
    ...(known ? { status: status as Status | 'all' } : {}),
    ...(typeof env === 'string' && /^env_[0-9A-Za-z]{22}$/.test(env) ? { env } : {}),
  }
}
