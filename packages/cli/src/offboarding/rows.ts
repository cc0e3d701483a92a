import { type Offboarding, type OffboardingRow, offboardingSubject } from '@skerry/sdk/internal/offboarding'
import { Failure, usage } from '../failure.ts'
import { shellWord } from '../labels.ts'
import { orNearest } from '../nearest.ts'
import { note } from '../output.ts'
import type { Session } from '../session.ts'
import { labelOf } from './find.ts'

/** The options that change rows of an offboarding. */
export interface RowOptions {
  done?: boolean
  notNeeded?: boolean
  reopen?: boolean
  handTo?: string
  note?: string
  remind?: boolean
}

/** The options that exclude each other, with the state that each gives to a row. */
const stateFlags = { done: '--done', notNeeded: '--not-needed', reopen: '--reopen' } as const
const states = { done: 'done', notNeeded: 'not_needed', reopen: 'waiting' } as const

const givenStates = (options: RowOptions) =>
  (Object.keys(stateFlags) as (keyof typeof stateFlags)[]).filter((key) => options[key])

export const changesRows = (options: RowOptions): boolean =>
  givenStates(options).length > 0 ||
  options.handTo !== undefined ||
  options.note !== undefined ||
  options.remind === true

export function checkRowOptions(options: RowOptions, names: readonly string[]): void {
  const given = givenStates(options)
  if (given.length > 1)
    throw usage(`${given.map((key) => stateFlags[key]).join(' and ')} exclude each other`, 'give one of them')
  if (options.remind && (given.length > 0 || options.handTo !== undefined || options.note !== undefined))
    throw usage('--remind changes no row', 'give it alone')
  if (changesRows(options) && names.length === 0)
    throw usage('the row is missing', 'name rows as the column WHAT shows them, such as shop/production')
}

/** The name by which a user names a row: `shop/production`, `shop/production/API_KEY` or `recovery`. */
const nameOf = ({ kind, label, secretName }: OffboardingRow): string =>
  kind === 'recovery_share' ? 'recovery' : [label, secretName].filter((part) => part !== null).join('/')

/** Finds the rows that the user names. All of them must exist, so that a mistyped name changes nothing. */
export function findRows(rows: readonly OffboardingRow[], names: readonly string[]): OffboardingRow[] {
  const found = names.map((name) => {
    const row = rows.find((one) => [one.id, nameOf(one), offboardingSubject(one)].includes(name))
    if (row) return row
    const next = orNearest(name, rows.map(nameOf), 'see the column WHAT; add the name of a value after a slash')
    throw new Failure('notFound', `the offboarding has no row ${name}`, next)
  })
  return [...new Set(found)]
}

/** Changes the rows, or reminds those to whom they were handed. Returns the changed rows. */
export async function changeRows(
  session: Session,
  orgId: string,
  offboarding: Offboarding,
  rows: readonly OffboardingRow[],
  options: RowOptions,
): Promise<void> {
  const at = (row: OffboardingRow) => ({ orgId, offboardingId: offboarding.id, offboardingRowId: row.id })
  const admin = options.handTo === undefined ? undefined : await findAdmin(session, orgId, options.handTo)
  const [state] = givenStates(options)
  if (state === 'done') for (const row of rows) checkTickable(row, offboarding)
  const body = {
    ...(state === undefined ? {} : { state: states[state] }),
    ...(options.note === undefined ? {} : { note: options.note || null }),
    ...(admin === undefined ? {} : { assigneeId: admin.userId }),
  }
  for (const row of rows) {
    if (options.remind) await session.client.offboardings.remind({ params: at(row) })
    else await session.client.offboardings.change({ params: at(row), body })
    note(`${nameOf(row)}: ${doneText(options, state, admin?.email ?? admin?.name ?? options.handTo)}`)
  }
}

function doneText({ remind, handTo }: RowOptions, state: keyof typeof states | undefined, admin?: string): string {
  if (remind) return 'sent a reminder'
  const parts = [
    ...(state === undefined ? [] : [{ done: 'replaced', notNeeded: 'not needed', reopen: 'open again' }[state]]),
    ...(handTo === undefined ? [] : [`handed to ${admin}`]),
  ]
  return parts.join(', ') || 'noted'
}

/** Only the values are ticked by a person. The server sees the re-keys and the new shares itself. */
function checkTickable(row: OffboardingRow, offboarding: Offboarding): void {
  if (row.kind === 'rotate_value') return
  const next =
    row.kind === 'rekey'
      ? `run \`skerry members offboard ${shellWord(labelOf(offboarding))}\` to re-key it, or leave it out with \`--not-needed\``
      : 'run `skerry recovery rotate`, or leave it out with `--not-needed`'
  throw usage(
    `--done is for values; ${nameOf(row)} is done by ${row.kind === 'rekey' ? 'its re-key' : 'new shares'}`,
    next,
  )
}

/** Finds the owner or admin to whom rows are handed. */
async function findAdmin(session: Session, orgId: string, who: string) {
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const named = members.filter(({ userId, email, name }) => [userId, email, name].includes(who))
  if (named.length > 1) throw usage(`--hand-to ${who} names several people`, 'give an e-mail address')
  const [member] = named
  const admins = members.filter(({ role }) => role !== 'member').map(({ email }) => email)
  if (member === undefined)
    throw new Failure('notFound', `--hand-to ${who} is not a member`, orNearest(who, admins, 'see `skerry members ls`'))
  if (member.role === 'member')
    throw usage(`--hand-to ${who} is not an admin, and cannot do this row`, 'name an owner or an admin')
  return member
}
