import type { ToldEntry } from '@skerry/contract/audit/sentence'

/** Something that happened: an entry of the audit log, or what a secret or a proposal tells in the same form. */
export interface Happening extends ToldEntry {
  createdAt: string
}

/** Which happenings are wanted. */
export interface Wanted {
  limit: number
  /** The oldest instant, in RFC 3339. */
  since: string | undefined
}

/** Sorts happenings, newest first, and cuts them off at the limit. */
export const newest = <H extends Happening>(happenings: readonly H[], { limit, since }: Wanted): H[] =>
  happenings
    .filter(({ createdAt }) => since === undefined || Date.parse(createdAt) >= Date.parse(since))
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
    .slice(0, limit)
