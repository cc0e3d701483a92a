import { Failure } from './failure.ts'
import { mustVerifyIn } from './known-directories.ts'
import { noteReaders, type Shared, unknownReaders } from './known-readers.ts'
import { isStrict } from './known-state.ts'
import { note, warn } from './output.ts'
import { isOwnKey } from './own-keys.ts'
import { canonical, compareKeys, noteAccepted, noteHowToCompare, type PinnedGrantee, pin, wordsOf } from './pins.ts'
import { ask, canAsk, confirmOrRefuse } from './prompt.ts'
import { findNamed, type Named, nameReaders, optionsFor, type ReaderFlags, serverWords } from './reader-names.ts'
import { confirmRecoveryKey, keepRecoveryKey, recoveryName } from './recovery/key.ts'
import type { Session } from './session.ts'

/** The readers who would get a key. */
interface Receivers extends Shared {
  /** The key in words for people: `the key of shop/production`. */
  what: string
  readers: readonly PinnedGrantee[]
  /** A warning about a reader, by the reader's id. */
  remarks?: ReadonlyMap<string, string>
  /**
   * The readers of the source get the key without a question, as a branch is for the readers of its parent. The source
   * itself gains no reader.
   */
  source?: Shared
  /** Advice for a person who wants no part of the server to get the key: `leave it out with --drop-readers`. */
  leaveOut?: string
}

/** Everyone to whom a command would wrap a key. */
interface Audience {
  receivers?: Receivers
  recoveryPublicKeyJwk?: string
}

export interface Acceptance {
  /** Answers true for a reader that was accepted with this public key, and throws for any other. */
  isAccepted: (reader: PinnedGrantee) => true
  /** Remembers the accepted readers. Call it when nothing else can refuse the command. */
  keep: () => Promise<void>
}

/**
 * Call this before a key is wrapped to readers that the server lists. It shows each reader that this machine does not
 * know, with the words of the reader's key. A person accepts them all, or `--reader` names each; `--yes` accepts none
 * of them.
 */
export async function acceptReaders(session: Session, audience: Audience, flags: ReaderFlags): Promise<Acceptance> {
  const { receivers, recoveryPublicKeyJwk } = audience
  const readers = receivers?.readers ?? []
  const firstSeen = await compareKeys(session, readers)
  const others = readers.filter(({ principalId }) => principalId !== session.principal.id)
  const named = await findNamed(session, others, { what: receivers?.what, recoveryPublicKeyJwk, flags })
  const isNewRecoveryKey =
    recoveryPublicKeyJwk !== undefined &&
    (await confirmRecoveryKey(session, recoveryPublicKeyJwk, named.has(recoveryName)))
  const elsewhere = receivers?.source ? await unknownReaders(session, receivers.source, others) : others
  const areSigned = receivers !== undefined && (await areSignedReaders(session, receivers))
  const unknown =
    receivers && !areSigned ? await withoutOwn(session, await unknownReaders(session, receivers, elsewhere)) : []
  const labelled = await nameReaders(session, unknown)
  for (const remark of receivers?.remarks?.values() ?? []) warn(remark)
  if (receivers && unknown.length > 0) {
    const { what, leaveOut } = receivers
    await showReaders({ readers: labelled, what, leaveOut })
    await confirmReaders(session, {
      unnamed: labelled.filter(({ principalId }) => !named.has(principalId)),
      all: others,
      what,
      leaveOut,
    })
  }
  const acceptedReaders = firstSeen.map((reader) => {
    const shown = labelled.find(({ principalId }) => principalId === reader.principalId)
    return { ...reader, name: shown ? acceptedName(shown, named) : null }
  })
  noteAccepted(acceptedReaders)
  const accepted = new Set(readers.map(identityOf))
  return {
    isAccepted: (reader) => {
      if (accepted.has(identityOf(reader))) return true
      throw new Failure(
        'conflict',
        `${reader.name ?? reader.principalId} was added while this command ran`,
        'try again',
      )
    },
    keep: async () => {
      if (isNewRecoveryKey) await keepRecoveryKey(session, recoveryPublicKeyJwk)
      if (!receivers) return
      for (const reader of acceptedReaders) pin(session, receivers.orgId, reader)
      await noteReaders(session, receivers, unknown)
    },
  }
}

/** Leaves out the keys of other profiles of this machine. */
async function withoutOwn(session: Session, readers: readonly PinnedGrantee[]): Promise<PinnedGrantee[]> {
  const areOwn = await Promise.all(readers.map((one) => isOwnKey(session, one)))
  return readers.filter((_, at) => !areOwn[at])
}

/** True if the readers are those that a signer signed. Nobody needs to compare words then. */
async function areSignedReaders(session: Session, { source, orgId, id, readers }: Receivers): Promise<boolean> {
  if (!mustVerifyIn(session, orgId)) return false
  const { requireSignedReaders } = await import('./trust/receivers.ts')
  return requireSignedReaders(session, { orgId, id: source?.id ?? id, readers })
}

/** People and tokens that the command line names. */
interface Grantees {
  /** The key in words for people: `the key of shop/production`. */
  what: string
  grantees: readonly PinnedGrantee[]
}

/**
 * Call it before a key is wrapped to somebody whom the command line names. The user names who gets the key, and the
 * server supplies the public key. A public key that this machine has not seen, or not under the name that the user
 * wrote, is shown with its words. The user accepts it on a terminal, or names its holder with `--reader`; `--yes` does
 * not accept it.
 *
 * @returns a function that remembers the public keys. Call it when nothing else can refuse the command.
 */
export const acceptGrantees = async (session: Session, grantees: Grantees, flags: ReaderFlags): Promise<() => void> =>
  (await askForGrantees(session, grantees, flags)).keep

/**
 * Like `acceptGrantees`, for environments that the command line does not name. The question about an unknown public key
 * names the environments. For a known public key, a separate question names them.
 */
export async function acceptGrant(
  session: Session,
  { labels, grantee }: { labels: readonly string[]; grantee: PinnedGrantee & { name: string } },
  flags: ReaderFlags & { yes?: boolean },
): Promise<() => void> {
  const named = labels.join(', ')
  const what = `the ${labels.length === 1 ? 'key' : 'keys'} of ${named}`
  const confirming = flags.yes ? '' : ' --yes'
  const { keep, hasAsked } = await askForGrantees(session, { what, grantees: [grantee] }, flags, confirming)
  if (!hasAsked) await confirmOrRefuse(`grants ${named} to ${grantee.name}`, flags)
  return keep
}

/**
 * Like `acceptGrant`, for several people whom the server lists. `consequence` completes a question about all of them, which
 * follows the question about unknown keys.
 */
export async function acceptSeveral(
  session: Session,
  { what, consequence, people }: { what: string; consequence: string; people: readonly PinnedGrantee[] },
  flags: ReaderFlags & { yes?: boolean },
): Promise<() => void> {
  const { keep } = await askForGrantees(session, { what, grantees: people }, flags)
  await confirmOrRefuse(consequence, flags)
  return keep
}

/** @param confirming the option that a script needs beside `--reader`, with a blank before it. */
async function askForGrantees(session: Session, { what, grantees }: Grantees, flags: ReaderFlags, confirming = '') {
  const { id: orgId } = await session.org()
  const unseen = await withoutOwn(session, await compareKeys(session, grantees))
  const named = await findNamed(session, grantees, { what, flags })
  const labelled = await nameReaders(session, unseen)
  const unnamed = labelled.filter(({ principalId }) => !named.has(principalId))
  if (unseen.length > 0) {
    await showReaders({ readers: labelled, what })
    await confirmReaders(session, { unnamed, all: grantees, what, confirming })
  }
  const accepted = labelled.map((grantee) => ({ ...grantee, name: acceptedName(grantee, named) }))
  noteAccepted(accepted)
  const keep = () => {
    for (const grantee of accepted) pin(session, orgId, grantee)
  }
  return { keep, hasAsked: unnamed.length > 0 }
}

const identityOf = ({ principalId, publicKeyJwk }: PinnedGrantee) => `${principalId} ${canonical(publicKeyJwk)}`

/**
 * The name to remember with a key: the name that the user wrote, or accepted with the words of the key. `--reader` with
 * an id accepts no name, because that name comes from the server alone. The key is then known by its id.
 */
function acceptedName({ principalId, called, wantedName }: Named, named: ReadonlyMap<string, string>): string | null {
  if (wantedName !== undefined) return wantedName
  return named.get(principalId) === principalId ? null : (called ?? null)
}

const isOfServer = (reader: Named): boolean => serverWords(reader) !== undefined

/** A key that this machine knows under another name has a warning that says so. */
function countWords(readers: readonly Named[]): string {
  const count = readers.length === 1 ? '1 reader' : `${readers.length} readers`
  return readers.some(({ mismatch }) => mismatch !== undefined) ? count : `${count} whom this machine does not know`
}

interface Shown {
  readers: readonly Named[]
  what: string
  leaveOut?: string | undefined
}

async function showReaders({ readers, what, leaveOut }: Shown): Promise<void> {
  note(`${countWords(readers)} would get ${what}:`)
  for (const { label, publicKeyJwk, mismatch } of readers) {
    note(`  ${label}`)
    note(`    ${await wordsOf(publicKeyJwk)}`)
    if (mismatch !== undefined) warn(mismatch)
  }
  const ofServer = readers.filter(isOfServer)
  if (ofServer.length < readers.length) noteHowToCompare()
  if (ofServer.length === 0) return
  const labels = new Intl.ListFormat('en').format(ofServer.map(({ label }) => label))
  const [parts, them] = ofServer.length === 1 ? ['is a part', 'it'] : ['are parts', 'them']
  note(`${labels} ${parts} of the server: through ${them}, the server can read everything that the key opens`)
  note(`${askTeam(ofServer)}${orLeaveOut(leaveOut)}`)
  note(`on the machine of that person, ${trustCommands(ofServer)} prints the same words`)
}

const isRotation = ({ principalType }: Named): boolean => principalType === 'rotator'
const isSync = (reader: Named): boolean => !isRotation(reader)

/** Nobody can read out the words of the server's own readers. A colleague gave them the key, or the server did. */
function askTeam(ofServer: readonly Named[]): string {
  const features = [...(ofServer.some(isRotation) ? ['rotation'] : []), ...(ofServer.some(isSync) ? ['sync'] : [])]
  return `ask your team who set up the ${features.join(' and ')}`
}

const trustCommands = (ofServer: readonly Named[]): string =>
  [
    ...(ofServer.some(isRotation) ? ['`skerry rotation trust`'] : []),
    ...(ofServer.some(isSync) ? ['`skerry sync trust <connection>`'] : []),
  ].join(' or ')

const orLeaveOut = (leaveOut: string | undefined): string => (leaveOut === undefined ? '' : `, or ${leaveOut}`)

interface Question {
  /** The readers whom no `--reader` names. */
  unnamed: readonly Named[]
  /** Every reader whom `--reader` could name. */
  all: readonly PinnedGrantee[]
  what: string
  leaveOut?: string | undefined
  confirming?: string
}

async function confirmReaders(session: Session, question: Question): Promise<void> {
  const { unnamed, what, leaveOut, confirming = '' } = question
  if (unnamed.length === 0) return
  if (isStrict() || !canAsk()) {
    const labels = unnamed.map(({ label }) => label).join(', ')
    const reasons = new Set(unnamed.map(({ mismatch }) => mismatch ?? 'this machine has not given them a key before'))
    throw new Failure(
      'refused',
      `${labels} would get ${what}, and ${[...reasons].join(', and ')}; nothing was changed`,
      `${await nextFor(session, question)}${confirming}`,
    )
  }
  if (await ask(`give ${what} to ${unnamed.length === 1 ? 'this reader' : `these ${unnamed.length} readers`}?`)) return
  throw new Failure(
    'failure',
    'nothing was changed',
    `to leave a reader out, take its access away first: \`skerry grant revoke <reader>\`${unnamed.some(isOfServer) ? orLeaveOut(leaveOut) : ''}`,
  )
}

async function nextFor(session: Session, { unnamed, all, leaveOut }: Question): Promise<string> {
  const options = await optionsFor(session, unnamed, all)
  const ofServer = unnamed.filter(isOfServer)
  if (ofServer.length === 0) return `compare their words, then run again with ${options}`
  const compare = 'compare the words of the people and tokens. Also '
  return `${ofServer.length < unnamed.length ? compare : ''}${askTeam(ofServer)}, then run again with ${options}${orLeaveOut(leaveOut)}`
}
