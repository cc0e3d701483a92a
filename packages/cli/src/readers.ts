import { isReader, readerWords } from '@skerry/contract/readers'
import { openDirectory } from './directory.ts'
import { Failure } from './failure.ts'
import { isStrict } from './history.ts'
import { noteReaders, type Shared, unknownReaders } from './known-readers.ts'
import { note } from './output.ts'
import { canonical, compareKeys, type PinnedGrantee, pin, wordsOf } from './pins.ts'
import { ask, canAsk } from './prompt.ts'
import type { Session } from './session.ts'

/** `--reader`: readers that the person names, because this machine does not know them yet. */
export interface ReaderFlags {
  reader?: string[]
}

/** `what` would be given, in words for people: `the key of shop/production`. */
interface Given extends Shared {
  what: string
  /** Readers of the source get the key unasked: a branch is for those who read its parent. The source gains no reader by it. */
  source?: Shared
}

/** Answers true for a reader that was accepted with this public key, and throws for any other. */
export type Accepted = (reader: PinnedGrantee) => true

/**
 * To be called before a key is wrapped to readers that the server lists. Readers that this machine does not know are shown
 * with the words of their keys. A person accepts them all, or `--reader` names each; `--yes` accepts none of them.
 */
export async function acceptReaders(
  session: Session,
  given: Given,
  readers: readonly PinnedGrantee[],
  flags: ReaderFlags,
): Promise<Accepted> {
  const { orgId, what } = given
  const firstSeen = await compareKeys(session, readers)
  const others = readers.filter(({ principalId }) => principalId !== session.principal.id)
  const elsewhere = given.source ? await unknownReaders(session, given.source, others) : others
  const unknown = await unknownReaders(session, given, elsewhere)
  if (unknown.length > 0) {
    const named = await nameReaders(session, unknown)
    await showReaders(named, what)
    await confirmReaders(
      named.filter(({ principalId }) => !flags.reader?.includes(principalId)),
      what,
    )
  }
  for (const reader of firstSeen) pin(session, orgId, reader)
  await noteReaders(session, given, unknown)
  const accepted = new Set(readers.map(identityOf))
  return (reader) => {
    if (accepted.has(identityOf(reader))) return true
    throw new Failure('conflict', `${reader.name ?? reader.principalId} was not there a moment ago`, 'try again')
  }
}

const identityOf = ({ principalId, publicKeyJwk }: PinnedGrantee) => `${principalId} ${canonical(publicKeyJwk)}`

type Named = PinnedGrantee & { label: string }

/** The server leaves out the names of tokens; lists have them. */
async function nameReaders(session: Session, readers: readonly PinnedGrantee[]): Promise<Named[]> {
  const nameOf = await openDirectory(
    session,
    readers.filter(({ name }) => name === null).map(({ principalId }) => principalId),
  )
  return readers.map((reader) => {
    const { principalId, principalType = '', name } = reader
    const kind = { principalType }
    const found = name ?? (isReader(kind) ? readerWords[kind.principalType] : nameOf(principalId))
    return { ...reader, label: found === undefined ? principalId : `${found} (${principalId})` }
  })
}

const count = (readers: readonly unknown[]) => (readers.length === 1 ? '1 reader' : `${readers.length} readers`)
const are = (readers: readonly unknown[]) => (readers.length === 1 ? 'is' : 'are')

async function showReaders(readers: readonly Named[], what: string): Promise<void> {
  note(`${count(readers)} that would get ${what} ${are(readers)} new to this machine:`)
  for (const { label, publicKeyJwk } of readers) {
    note(`  ${label}`)
    note(`    ${await wordsOf(publicKeyJwk)}`)
  }
  note('compare the words with what `skerry keys fingerprint` prints for each of them')
}

async function confirmReaders(unnamed: readonly Named[], what: string): Promise<void> {
  if (unnamed.length === 0) return
  if (isStrict() || !canAsk()) {
    const labels = unnamed.map(({ label }) => label).join(', ')
    const options = unnamed.map(({ principalId }) => `--reader ${principalId}`).join(' ')
    throw new Failure(
      'refused',
      `${count(unnamed)} that would get ${what} ${are(unnamed)} new to this machine: ${labels}; nothing was changed`,
      `if somebody on your team gave them access, run again with ${options}`,
    )
  }
  if (await ask(`give ${what} to ${unnamed.length === 1 ? 'this reader' : `these ${unnamed.length} readers`}?`)) return
  throw new Failure(
    'failure',
    'nothing was changed',
    'to leave a reader out, take its access away first: `skerry grant revoke <id>`',
  )
}
