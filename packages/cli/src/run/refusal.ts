import { Failure, isBoundElsewhere, lacksKey, missingIn, NoKeyFailure } from '../failure.ts'
import { boundElsewhere, noKey } from '../no-key.ts'
import { boundPlace, boundWords, type Place } from '../places.ts'
import type { Session } from '../session.ts'

/** Says why the server refuses the values of a place, and which command helps. */
export function refusalAt(error: Error, session: Session, { label }: Pick<Place, 'label'>): Promise<Failure> {
  const [parent = label, branch] = label.split('@')
  return refusal(error, session, parent, branch)
}

/**
 * Says why the server refuses the values of an environment, and which command helps.
 *
 * @param label the environment without its branch; of a bound token, words that stand for its environment.
 */
export async function refusal(
  error: Error,
  session: Session,
  label: string,
  branch: string | undefined,
): Promise<Failure> {
  if (lacksKey(error)) return withoutKey(error, session, label, branch)
  const elsewhere = isBoundElsewhere(error) ? await boundElsewhere(session, label) : undefined
  return elsewhere ?? new Failure('refused', `${label}: ${error.message}`)
}

async function withoutKey(error: Error, session: Session, label: string, branch: string | undefined) {
  const missing = missingIn(error)
  const place = label === boundWords ? await labelOfBound(session) : label
  const full = branch === undefined ? place : `${place}@${branch}`
  const groups = missing.filter((one) => one.includes(':'))
  const failure = await noKey(session, full, groups.length === missing.length ? groups : [])
  if (place !== boundWords) return failure
  // Without the name of the environment there is no command that helps.
  return new NoKeyFailure(failure.kind, failure.message)
}

const labelOfBound = async (session: Session): Promise<string> =>
  (await boundPlace(session).catch(() => undefined))?.label ?? boundWords
