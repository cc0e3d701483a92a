import { limits } from '@skerry/contract/limits'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import type { Difference } from '@skerry/sdk/internal/directory/differences'
import { chunks, type SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { renewHead, signEdit } from '@skerry/sdk/internal/directory/signing'
import { differenceLine, entryWords } from '@skerry/sdk/internal/directory/words'
import { RollbackError } from '@skerry/sdk/rollback'
import { Failure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import type { Session } from '../session.ts'
import type { Confirmable } from '../settings.ts'
import { acceptRecovery } from './accept-recovery.ts'
import { changeRoot, send } from './change-root.ts'
import { type Compared, compareAll, isClosed } from './compare.ts'
import { ownSigner } from './init.ts'
import { type OldHeadFlags, openToSign } from './old-head.ts'
import { type ComparedRecovery, isSignedRecovery, recoveryEntry, showRecovery } from './recovery-key.ts'
import { requireRemembered } from './remembered.ts'
import { acceptHolders, requireKeysOfReaders } from './vouching.ts'

/** A head is renewed after this time, so that it never gets too old for clients that write. */
const renewAfterSeconds = 7 * 86_400

/**
 * Signs what the server claims and nobody has signed, after a person has read it. The recovery key stands in the root, which
 * may need signatures of others.
 */
export async function sign(
  names: string[],
  { session, flags, orgId }: InOrg<Confirmable & ReaderFlags & OldHeadFlags>,
): Promise<Output> {
  const signer = await ownSigner(session)
  const compared = await compareAll(session, orgId, () => openToSign(session, orgId, flags))
  const { recovery } = compared
  requireSigner(compared.directory, signer)
  const isRecoveryChosen = isChosen(recovery, names)
  const chosen = chooseByName(compared, names)
  const signable = chosen.filter((one) => !isClosed(one))
  // A root that others must sign is the only output, so that it can be written into a file.
  const write = isRecoveryChosen && compared.directory.root.body.threshold > 1 ? note : writeLine
  for (const one of signable) write(differenceLine(one, compared.nameOf))
  for (const one of chosen.filter(isClosed))
    warn(`${differenceLine(one, compared.nameOf)}: you do not hold its key, so another signer has to sign it`)
  for (const one of signable.filter(hasForeignKey))
    warn(
      `no signer has signed the key of ${entryWords(one.key, compared.nameOf)}: if nobody on your team re-keyed it, replace it with \`skerry env rekey\` first`,
    )
  await warnOfOthers(session, orgId, compared, signable)
  if (isRecoveryChosen) await showRecovery(session, orgId, recovery)
  else if (signable.length === 0) return renew(session, compared.directory, signer)
  const keep = await acceptHolders(session, orgId, signable, { flags })
  requireKeysOfReaders(compared.directory.entries, signable, compared.nameOf)
  const keepRecovery = isRecoveryChosen ? await acceptRecovery(session, recovery.publicKeyJwk) : undefined
  const count = signable.length + (isRecoveryChosen ? 1 : 0)
  await confirmOrRefuse(`signs ${count === 1 ? 'this line' : `these ${count} lines`}`, flags)
  const directory = await signAll(session, compared.directory, signable, signer)
  keep()
  const signed = { signed: signable.map(({ key }) => key), head: directory.head.body.version }
  if (signable.length > 0)
    note(`signed ${signable.length === 1 ? '1 entry' : `${signable.length} entries`} (head ${signed.head})`)
  if (!isRecoveryChosen) return { json: signed }
  const changed = await changeRoot(session, directory, { recovery: recovery.shown }, [signer])
  await keepRecovery?.()
  return { ...changed, json: { ...signed, ...(changed.json as object) } }
}

/**
 * Whether the recovery key is to be signed: it is not as it was signed, and the arguments name it, or nothing. Only its name
 * signs its end, because a server that hides the key shows no words that a person could compare.
 */
function isChosen(recovery: ComparedRecovery, names: readonly string[]): boolean {
  if (isSignedRecovery(recovery) || names.length > 0)
    return !isSignedRecovery(recovery) && names.includes(recoveryEntry)
  if (recovery.state !== 'hidden') return true
  warn('the server shows no recovery key: if someone on your team ended recovery, run `skerry trust sign recovery`')
  return false
}

const hasForeignKey = ({ members }: Difference): boolean => members.some(({ name }) => name === 'key')

/** Warns of a new entry that this machine remembers otherwise. Only a signature makes such an environment usable again. */
async function warnOfOthers(session: Session, orgId: string, { opened }: Compared, all: readonly Difference[]) {
  for (const one of all.filter(({ kind }) => kind === 'added'))
    await requireRemembered(session, orgId, [one], opened).catch((error) => {
      if (!(error instanceof RollbackError || error instanceof Failure)) throw error
      warn(`${error.message}: if nobody on your team did this, do not sign it`)
    })
}

export function requireSigner({ root }: Pick<SignedDirectory, 'root'>, { kid }: DirectorySigner): void {
  if (root.body.signers.some((one) => one.kid === kid)) return
  throw new Failure('refused', 'you are no signer of this directory', 'see `skerry trust status` for the signers')
}

/** The differences that the arguments name: `shop/production`, `ada@example.com`. All without an argument. */
function chooseByName({ differences, recovery, nameOf }: Compared, names: readonly string[]): Difference[] {
  if (names.length === 0) return differences
  const isNamed = (one: Difference, name: string) => {
    const own = one.key.slice(one.key.indexOf('/') + 1)
    return own === name || nameOf(one.key) === name
  }
  const isOther = (name: string) => name !== recoveryEntry || isSignedRecovery(recovery)
  const unknown = names.find((name) => isOther(name) && !differences.some((one) => isNamed(one, name)))
  if (unknown !== undefined)
    throw new Failure('notFound', `nothing about ${unknown} waits to be signed`, 'see `skerry trust status`')
  return differences.filter((one) => names.some((name) => isNamed(one, name)))
}

/** The server takes a limited number of entries at once. */
async function signAll(
  session: Session,
  before: SignedDirectory,
  differences: readonly Difference[],
  signer: DirectorySigner,
): Promise<SignedDirectory> {
  let directory = before
  for (const part of chunks(differences, limits.directoryEntriesAtOnceMax)) {
    const entries = new Map(part.map(({ key, next }) => [key, next ?? null] as const))
    const step = await signEdit(directory, { entries }, signer)
    if (step) directory = await send(session, step)
  }
  return directory
}

/** Signs a new head over the same entries, if the newest one is a week old. */
async function renew(session: Session, directory: SignedDirectory, signer: DirectorySigner): Promise<Output> {
  const { version, issuedAt } = directory.head.body
  if (Date.now() / 1000 - issuedAt < renewAfterSeconds) {
    note('there is nothing to sign')
    return { json: { signed: [], head: version } }
  }
  const renewed = await send(session, await renewHead(directory, signer))
  note(`there is nothing to sign; renewed the head (${renewed.head.body.version})`)
  return { json: { signed: [], head: renewed.head.body.version } }
}
