import type { Sql, Tx } from '../db/database.ts'
import { sha256 } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import { networkOf } from '../kernel/network.ts'

interface Rule {
  /** How many attempts are allowed within the window. */
  max: number
  seconds: number
  /** The word for the attempts in the error message. Default: tries. */
  noun?: string
}

/**
 * The limits for codes and links that could be guessed, and for mails. Attempts are counted in the database, so that a
 * limit holds across servers.
 */
export const attemptRules = {
  /**
   * Per person. With a six-digit code and one time step on either side, an attempt succeeds with a chance of 3 in a
   * million.
   */
  second_factor: { max: 5, seconds: 600 },
  /** Per mailbox, so that nobody can flood one. */
  mailbox: { max: 5, seconds: 900 },
  /**
   * Per mailbox, organization and address of the caller: each invitation is a mail to a person who did not ask for it.
   */
  invitation_mailbox: { max: 5, seconds: 3600, noun: 'invitations of this address' },
  invitation_org: { max: 100, seconds: 3600, noun: 'invitations by this organization' },
  invitation_address: { max: 100, seconds: 3600, noun: 'invitations from your address' },
  /** Per address of the caller, for organizations without a member, because anyone may have created those. */
  invitation_memberless: { max: 10, seconds: 3600, noun: 'invitations by organizations without a member' },
  /** Per person and organization: each request is a mail to every admin. */
  access_request: { max: 30, seconds: 3600, noun: 'requests for access' },
  /** Per row of an offboarding and admin: each reminder is a mail. */
  offboarding_reminder: { max: 1, seconds: 3600, noun: 'reminders about this row' },
  /**
   * Per address of the caller: sign-in links, set-up links and passkeys. They have too many bits to be guessed anyway.
   */
  sign_in: { max: 30, seconds: 600 },
  /**
   * Per person, or per address if the person is unknown. There are 20^8 codes, and only recently requested ones are
   * valid.
   */
  cli_code: { max: 20, seconds: 3600 },
} as const satisfies Record<string, Rule>

export type AttemptName = keyof typeof attemptRules

/**
 * Counts one attempt, or throws rate_limited. The row stays locked until the transaction ends. So concurrent attempts
 * wait here, and each one is checked after those before it are counted. The caller must return a refusal of the attempt
 * instead of throwing it. Otherwise the count is rolled back with it.
 */
export async function takeAttempt(db: Tx, name: AttemptName, whose: string, now: string): Promise<void> {
  const { max, seconds, noun = 'tries' }: Rule = attemptRules[name]
  const endsAt = new Date(Date.parse(now) + seconds * 1000).toISOString()
  const row = await countAttempt(db, keyOf(name, whose), now, endsAt)
  if (!row || row.count <= max) return
  const retryAfterSeconds = Math.max(1, Math.ceil((Date.parse(row.endsAt) - Date.parse(now)) / 1000))
  throw fail('rate_limited', `too many ${noun}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
}

/** Takes the count back after a correct attempt. */
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
