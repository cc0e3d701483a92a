import type { Sql, Tx } from '../db/database.ts'
import { sha256 } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import { networkOf } from '../kernel/network.ts'

interface Rule {
  /** How many wrong ones are looked at within the window. */
  max: number
  seconds: number
  /** What there are too many of, unless it is tries. */
  noun?: string
}

/** What can be guessed, and how often it may be tried. Kept in the database, so that it holds across servers. */
export const attemptRules = {
  /** By person. A six-digit code with one step either side: a try hits with 3 in a million. */
  second_factor: { max: 5, seconds: 600 },
  /** By mailbox, so that nobody’s is filled. */
  mailbox: { max: 5, seconds: 900 },
  /** By mailbox, organization and address of the caller: each invitation is a mail to somebody who did not ask for it. */
  invitation_mailbox: { max: 5, seconds: 3600, noun: 'invitations of this address' },
  invitation_org: { max: 100, seconds: 3600, noun: 'invitations by this organization' },
  invitation_address: { max: 100, seconds: 3600, noun: 'invitations from your address' },
  /** By address of the caller, for organizations that nobody is in yet: anyone may have made those. */
  invitation_memberless: { max: 10, seconds: 3600, noun: 'invitations by organizations without a member' },
  /** By address of the caller: links, set-up links and passkeys, which hold too many bits to be guessed anyway. */
  sign_in: { max: 30, seconds: 600 },
  /** By person, or by address where nobody is known. There are 20^8 codes, of which those asked for lately are good. */
  cli_code: { max: 20, seconds: 3600 },
} as const satisfies Record<string, Rule>

export type AttemptName = keyof typeof attemptRules

/**
 * Counts one try, or throws rate_limited. The row is locked until the transaction ends, so tries at the same time line up
 * here and none is looked at before the ones ahead of it are counted. A refusal of what was tried must be returned, not
 * thrown, or the count is rolled back with it.
 */
export async function takeAttempt(db: Tx, name: AttemptName, whose: string, now: string): Promise<void> {
  const { max, seconds, noun = 'tries' }: Rule = attemptRules[name]
  const endsAt = new Date(Date.parse(now) + seconds * 1000).toISOString()
  const row = await countAttempt(db, keyOf(name, whose), now, endsAt)
  if (!row || row.count <= max) return
  const retryAfterSeconds = Math.max(1, Math.ceil((Date.parse(row.endsAt) - Date.parse(now)) / 1000))
  throw fail('rate_limited', `too many ${noun}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
}

/** What was right is not counted. */
export const returnAttempt = (db: Tx, name: AttemptName, whose: string) =>
  db.later('update attempts set count = count - 1 where key = $1', [keyOf(name, whose)])

const keyOf = (name: AttemptName, whose: string) => sha256(`${name} ${networkOf(whose)}`)

const countAttempt = (db: Tx, key: string, now: string, endsAt: string) =>
  db.row<{ count: number; endsAt: string }>(
    `insert into attempts (key, count, ends_at) values ($1, 1, $3)
     on conflict (key) do update
       set count = case when attempts.ends_at <= $2 then 1 else attempts.count + 1 end,
           ends_at = case when attempts.ends_at <= $2 then $3 else attempts.ends_at end
     returning count, ends_at`,
    [key, now, endsAt],
  )

export const deleteEndedAttempts = (db: Sql, now: string) => db.rows('delete from attempts where ends_at <= $1', [now])
