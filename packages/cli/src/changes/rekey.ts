import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { distinctNames } from '@skerry/sdk/internal/distinct-names'
import { type ComparedRekey, compareRekey, type RekeyProblem } from '@skerry/sdk/rekey-changes'
import type { ChangeRequest } from '@skerry/sdk/secrets'
import { openDirectory } from '../directory.ts'
import { Failure } from '../failure.ts'
import { openPlace } from '../grants.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { environmentShared, noteKeyMade } from '../known-readers.ts'
import { note, warn, writeLine } from '../output.ts'
import type { Place } from '../places.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { type Acceptance, acceptReaders } from '../readers.ts'
import { noteTrust } from '../rekeying.ts'
import type { Session } from '../session.ts'
import { count } from '../units.ts'
import { warnOfSuperseded } from './open.ts'

type Names = (principalId: string) => string

/** Compares a proposed re-key on this machine. Without both keys, only the readers are known. */
export const compareProposed = async (session: Session, { orgId, envId }: Place, { id }: ChangeRequest) =>
  compareRekey(session.client, { orgId, envId, changeRequestId: id }, await session.key())

const problemWords: Record<RekeyProblem['problem'], string> = {
  differs: 'the proposed value is another one',
  missing: 'it would be lost',
  added: 'it does not exist now',
  unreadable: 'the new key does not open it',
  unreadable_now: 'the present key does not open it, so nobody can compare',
}

const problemLine = ({ kind, name, problem }: RekeyProblem): string =>
  `${kind === 'secret' ? name : `the description of ${name}`}: ${problemWords[problem]}`

/** Writes what a re-key would do. */
export async function tellRekey(session: Session, compared: ComparedRekey, { label }: Place): Promise<void> {
  const { values, keeps, loses, strangers, stale, covered } = compared
  const nameOf = await namesOf(session, compared)
  // A value that was written since the proposal differs, too.
  if (!stale) tellValues(values)
  writeLine(`gets the new key: ${listed(keeps, nameOf)}`)
  writeLine(`loses access: ${listed(loses, nameOf)}`)
  writeLine(`covered by recovery: ${covered ? 'yes' : 'no'}`)
  for (const { principalId } of strangers) warn(strangerWarning(nameOf(principalId), label))
  if (stale) warn(`a secret or a reader of ${label} changed after this was proposed`)
}

function tellValues(values: ComparedRekey['values']): void {
  writeLine(valuesLine(values))
  if (values === null || values.problems.length === 0) return
  for (const problem of values.problems) writeLine(`  ${problemLine(problem)}`)
  warn('a new key changes no value: do not approve it')
}

function valuesLine(values: ComparedRekey['values']): string {
  if (values === null) return 'values: not compared, because you do not have both keys'
  const { same, problems } = values
  if (problems.length === 0) return `values: no value differs, ${count(same, 'secret')} compared`
  return `values: ${count(problems.length, 'difference')}, ${count(same, 'secret')} the same`
}

const strangerWarning = (name: string, label: string) =>
  `${name} would get the new key, and is no reader of ${label} now: do not approve it`

const listed = (holders: readonly { principalId: string }[], nameOf: Names): string =>
  holders.length === 0
    ? 'nobody'
    : distinctNames(holders.map(({ principalId: id }) => ({ id, name: nameOf(id) }))).join(', ')

async function namesOf(session: Session, { keeps, loses, strangers }: ComparedRekey): Promise<Names> {
  const holders = [...keeps, ...loses]
  const known = new Map(holders.map((one) => [one.principalId, one.name]))
  const kinds = new Map(holders.filter(isReader).map((one) => [one.principalId, readerWords[one.principalType]]))
  const nameOf = await openDirectory(
    session,
    [...holders, ...strangers].map(({ principalId }) => principalId),
  )
  return (id) => known.get(id) ?? nameOf(id) ?? kinds.get(id) ?? id
}

interface Reviewed {
  canSee: boolean
  /** Call it after the approval. Remembers the accepted readers, and the new key if it applies. */
  keep: (isApplied: boolean) => Promise<void>
}

/**
 * Checks a re-key before its approval. A value that differs and a receiver who is no reader are refused. A reader whom this
 * machine does not know must be accepted, as for a re-key of one’s own.
 */
export async function checkRekey(
  session: Session,
  place: Place,
  change: ChangeRequest,
  flags: ReaderFlags,
): Promise<Reviewed> {
  const { orgId, envId, label } = place
  const compared = await compareProposed(session, place, change)
  const { values, keeps, loses, strangers, stale } = compared
  if (stale)
    throw new Failure(
      'conflict',
      `${change.id} was not approved: a secret or a reader of ${label} changed after it was proposed`,
      `the proposer runs \`skerry env rekey ${label}\` again, which replaces it`,
    )
  const nameOf = await namesOf(session, compared)
  const [stranger] = strangers
  if (stranger) throw refusal(change.id, strangerWarning(nameOf(stranger.principalId), label))
  const [problem, ...others] = values?.problems ?? []
  if (problem) {
    const more = others.length === 0 ? '' : `, and ${count(others.length, 'more difference')}`
    throw refusal(change.id, `a new key changes no value, but ${problemLine(problem)}${more}`)
  }
  note(valuesLine(values))
  note(`gets the new key: ${listed(keeps, nameOf)}`)
  note(`loses access: ${listed(loses, nameOf)}`)
  if (loses.some(({ principalId }) => principalId === session.principal.id))
    warn(`you lose access to ${label} with this re-key`)
  await warnOfSuperseded(session, place, change.id)
  if (values === null) {
    const keep = async (isApplied: boolean) => {
      if (isApplied && mustVerifyIn(session, orgId)) warnUnsigned(label)
    }
    return { canSee: false, keep }
  }
  const { key: present } = await openPlace(session, orgId, envId, label)
  const receivers = {
    ...(await environmentShared(orgId, envId, present)),
    what: `the new key of ${label}`,
    readers: keeps,
    leaveOut: 'reject the change and propose another with `skerry env rekey --drop-readers`',
  }
  const { keep }: Acceptance = await acceptReaders(session, { receivers }, flags)
  return {
    canSee: true,
    keep: async (isApplied) => {
      await keep()
      if (!isApplied) return
      await (await session.key()).knownState?.rekeyed(envId, values.key.bytes)
      await noteKeyMade(session, { orgId, envId }, values.key, keeps)
      if (!mustVerifyIn(session, orgId)) noteTrust(label, false)
      else if (await signKey(session, place, values, keeps)) noteTrust(label, true)
      else warnUnsigned(label)
    },
  }
}

const warnUnsigned = (label: string) =>
  warn(
    `machines that know the signed directory refuse ${label} until a signer who can read it runs \`skerry trust sign\``,
  )

/**
 * Signs the approved key if the caller is a signer, and returns whether it is signed. Only somebody who has read the values
 * can have encrypted them under this key. Without any value, the key could be the server's own, in a proposal that the
 * server invented.
 */
async function signKey(
  session: Session,
  { orgId, envId, label }: Place,
  { same, key }: NonNullable<ComparedRekey['values']>,
  readers: ComparedRekey['keeps'],
): Promise<boolean> {
  if (same === 0) {
    warn(
      `not signed: the new key of ${label}, because no value shows who made it. If your team proposed it, run \`skerry trust sign ${label}\``,
    )
    return false
  }
  const { signApprovedKey } = await import('../trust/signatory.ts')
  return signApprovedKey(session, { orgId, envId }, key.bytes, readers)
}

const refusal = (id: string, why: string) =>
  new Failure('failure', `${id} was not approved: ${why}`, `reject it with \`skerry changes reject ${id}\``)
