import { isReader } from '@skerry/contract/grants/readers'
import { toFailure } from './failure.ts'
import { note, warn } from './output.ts'
import { rekeyCommand } from './rekey-steps.ts'
import type { Session } from './session.ts'

interface Given {
  orgId: string
  envId: string
  label: string
}

/**
 * After the server got keys with a request that failed, names the commands that replace these keys. An honest server has
 * forgotten them. It says nothing about keys that the server still needs for something else.
 *
 * @param readerId the sync connection, or the rotator, to which the keys were wrapped
 */
export async function tellGivenKeys(session: Session, readerId: string, given: readonly Given[]): Promise<void> {
  const states = await Promise.all(given.map((one) => stillReads(session, readerId, one)))
  const lost = given.filter((_, index) => states[index] !== true)
  if (lost.length === 0) return
  const labels = lost.map(({ label }) => label).join(', ')
  const stored = states.includes(undefined) ? 'did not say whether it stores the' : 'stores no'
  note(`the server ${stored} key of ${labels} now, but it had the key for a moment and may have kept it`)
  note('solve the problem and run the command again, or make that key worthless:')
  for (const { label } of lost) note(`  ${rekeyCommand(label, session.settings.profile)}`)
}

/** Returns undefined if the server does not say it. */
async function stillReads({ client }: Session, readerId: string, { orgId, envId }: Given) {
  try {
    const { grants } = await client.grants.list({ params: { orgId, envId } })
    return grants.some((grant) => isReader(grant) && grant.principalId === readerId)
  } catch {
    return undefined
  }
}

interface Unmade {
  /** A word for what the request would have made. */
  made: string
  /** The command that lists what exists. */
  list: string
  readerId: string
  given: readonly Given[]
}

/** After a request with keys for the server failed. Without an answer, nobody knows whether the server stored them. */
export async function tellUnmade(
  session: Session,
  error: unknown,
  { made, list, readerId, given }: Unmade,
): Promise<void> {
  if (given.length === 0) return
  if (toFailure(error).kind !== 'unavailable') return tellGivenKeys(session, readerId, given)
  const labels = given.map(({ label }) => label).join(', ')
  warn(
    `the server may have stored the ${made} and the key of ${labels}: look with \`${list}\` before you run this again`,
  )
}
