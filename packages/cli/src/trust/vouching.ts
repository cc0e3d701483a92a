import { fingerprint } from '@skerry/crypto/digest'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { Difference } from '@skerry/sdk/internal/directory/differences'
import { type EntryNames, entryWords } from '@skerry/sdk/internal/directory/words'
import { Failure } from '../failure.ts'
import { findPin } from '../known-keys.ts'
import { isStrict } from '../known-state.ts'
import { note } from '../output.ts'
import { isOwnKey } from '../own-keys.ts'
import { everyRow } from '../pages.ts'
import { isPinnedAs, isSameName, noteHowToCompare, noteListed, pin, pinAnswers, wordsOf } from '../pins.ts'
import { ask, canAsk } from '../prompt.ts'
import { matchNames, optionsFor, type ReaderFlags } from '../reader-names.ts'
import { ownPublicKey, type Session } from '../session.ts'
import { listTokens } from '../tokens/find.ts'
import { ownEntryKey } from './signatory.ts'

// A signer vouches for the keys of persons and tokens. This module compares each with the known keys of this machine, and
// shows a person the words of those that it does not know.

interface Holder {
  entryKey: string
  principalId: string
  /** The e-mail address, or the name of the token. */
  name: string
  publicKeyJwk: string
}

/** The members of the entry of a person or a token, as the server claims them. */
interface ClaimedHolder {
  kid: string
  email?: string
  name?: string
}

/**
 * Lets a person accept the unknown keys among entries that are about to be signed, or `--reader` names each holder. `--yes`
 * accepts none of them.
 *
 * @returns a function that remembers the accepted keys. Call it once the entries are signed.
 */
export async function acceptHolders(
  session: Session,
  orgId: string,
  differences: readonly Difference[],
  asked: { flags: ReaderFlags; recoveryPublicKeyJwk?: string | undefined },
): Promise<() => void> {
  const wanted = differences.filter(isNewKey)
  const unknown: Holder[] = []
  /** People whose entries had ended. A key that this machine knows from before is not accepted for them. */
  const returned: Holder[] = []
  const others: Holder[] = []
  const holders = wanted.length === 0 ? new Map<string, Holder>() : await listHolders(session, orgId)
  for (const { key, kind, next } of wanted) {
    const claimed = next as ClaimedHolder
    if (key === ownEntryKey(session) && claimed.kid !== (await fingerprint(await ownPublicKey(session))))
      throw notYours()
    const holder = holders.get(key)
    if (!holder) throw hidden(key, claimed)
    await requireAsClaimed(holder, claimed)
    if (key === ownEntryKey(session)) continue
    others.push(holder)
    const known = findPin(session, orgId, holder.principalId)
    if (!known) unknown.push(holder)
    else if ((await fingerprint(known.publicKeyJwk)) !== claimed.kid) throw otherKey(holder)
    else if (known.wasListed && kind === 'added') returned.push(holder)
    else if (!isSameName(holder.principalId, known.name, holder.name)) unknown.push(holder)
  }
  await pinAnswers(session, orgId, unknown)
  const isPinned = ({ name, principalId }: Holder) => isPinnedAs(session, orgId, name, principalId)
  const unanswered = [...returned]
  for (const holder of unknown)
    if (!isPinned(holder) && !(await isOwnKey(session, { ...holder, wantedName: holder.name }))) unanswered.push(holder)
  const named = await matchNames(session, others, { what: 'these entries', ...asked })
  if (unanswered.length > 0) await showHolders(unanswered)
  const unnamed = unanswered.filter(({ principalId }) => !named.has(principalId))
  if (unnamed.length > 0) await askAbout(session, unnamed, others)
  return () => {
    for (const holder of unanswered) pin(session, orgId, holder)
    noteListed(
      session,
      orgId,
      others.map(({ principalId }) => principalId),
    )
  }
}

/**
 * Refuses readers whose key is not the one in their own entry, as it is signed or about to be. Nobody has compared the words of
 * another key.
 */
export function requireKeysOfReaders(
  entries: ReadonlyMap<string, DirectoryEntry>,
  signable: readonly Difference[],
  nameOf: EntryNames,
): void {
  const next = new Map(signable.map((one) => [one.key, one.next]))
  const kidOf = (key: string) =>
    ((next.has(key) ? next.get(key) : entries.get(key)?.value) as ClaimedHolder | null)?.kid
  for (const { key, claimedReaders } of signable) {
    const other = claimedReaders?.find(([reader, kid]) => kidOf(reader) !== kid)
    if (other) throw otherReader(entryWords(key, nameOf), nameOf(other[0]), kidOf(other[0]) === undefined)
  }
}

const otherReader = (what: string, reader: string, isUnsigned: boolean): Failure =>
  isUnsigned
    ? new Failure(
        'refused',
        `${what} has the reader ${reader}, who has no signed entry; nothing was signed`,
        `sign both: \`skerry trust sign\` signs all entries, and takes several names`,
      )
    : new Failure(
        'refused',
        `the server lists ${reader} as a reader of ${what}, with another key than in the entry of ${reader}; nothing was signed`,
        `if ${reader} made a new keyring, grant the key again with \`skerry grant\``,
      )

/** A decoy has no key: the thumbprint in its entry is random, so there are no words to compare. */
const isNewKey = ({ key, kind, members, next, isDecoy }: Difference): boolean =>
  /^(?:person|token)\//.test(key) &&
  isDecoy !== true &&
  next !== null &&
  next !== undefined &&
  (kind === 'added' || members.some(({ name }) => ['kid', 'email', 'name'].includes(name)))

async function requireAsClaimed(holder: Holder, { kid, email, name = email }: ClaimedHolder): Promise<void> {
  if ((await fingerprint(holder.publicKeyJwk)) !== kid) throw twoKeys(holder)
  if (name !== holder.name) throw twoNames(holder, String(name))
}

async function listHolders(session: Session, orgId: string): Promise<Map<string, Holder>> {
  const members = await everyRow(
    (query) => session.client.orgs.members({ params: { orgId }, query }),
    (page) => page.members,
  )
  const tokens = await listTokens(session)
  const people = members.flatMap(({ userId, email, publicKeyJwk }): Holder[] =>
    publicKeyJwk === null
      ? []
      : [{ entryKey: `person/${userId}`, principalId: userId, name: email ?? userId, publicKeyJwk }],
  )
  const machines = tokens.map(
    ({ id, name, publicKeyJwk }): Holder => ({ entryKey: `token/${id}`, principalId: id, name, publicKeyJwk }),
  )
  return new Map([...people, ...machines].map((one) => [one.entryKey, one]))
}

async function showHolders(unknown: readonly Holder[]): Promise<void> {
  const count = unknown.length === 1 ? '1 key is' : `${unknown.length} keys are`
  note(`${count} new to this machine. You vouch for each key that you sign:`)
  for (const { name, principalId, publicKeyJwk } of unknown) {
    const isUnique = unknown.filter((one) => one.name === name).length === 1
    note(`  ${name}${isUnique ? '' : ` (${principalId})`}`)
    note(`    ${await wordsOf(publicKeyJwk)}`)
  }
  noteHowToCompare()
}

async function askAbout(session: Session, unknown: readonly Holder[], all: readonly Holder[]): Promise<void> {
  if (isStrict() || !canAsk())
    throw new Failure(
      'refused',
      `this machine does not know the key of ${unknown.map(({ name }) => name).join(', ')}; nothing was signed`,
      `compare the words, then run again with ${await optionsFor(session, unknown, all)}`,
    )
  if (!(await ask(`are these the right words for ${unknown.length === 1 ? 'this key' : 'these keys'}?`)))
    throw new Failure('failure', 'nothing was signed', 'ask the holders for their words first')
}

const otherKey = ({ name, principalId, entryKey }: Holder): Failure =>
  new Failure(
    'refused',
    `the server shows another key for ${name} (${principalId}) than this machine knows; nothing was signed`,
    entryKey.startsWith('person/')
      ? `ask them for the words of \`skerry keys fingerprint\`, then run \`skerry members trust ${name}\``
      : 'a token’s key never changes: do not use this server, and tell your organization’s owner',
  )

const twoNames = ({ name, principalId }: Holder, other: string): Failure =>
  new Failure(
    'refused',
    `the server calls ${principalId} both ${name} and ${other}; nothing was signed`,
    'do not use this server, and tell your organization’s owner',
  )

const notYours = (): Failure =>
  new Failure(
    'refused',
    'the server shows a public key for you that is not yours; nothing was signed',
    'do not use this server, and tell your organization’s owner',
  )

/** The words of a key cannot be compared if the server claims its thumbprint and does not show the key. */
const hidden = (entryKey: string, { email, name = email }: ClaimedHolder): Failure =>
  new Failure(
    'refused',
    `the server claims a key of ${name ?? 'somebody'} (${entryKey.slice(entryKey.indexOf('/') + 1)}), but does not show it; nothing was signed`,
    'run again if somebody just left. If the server still does not show the key, tell your organization’s owner',
  )

const twoKeys = ({ name, principalId }: Holder): Failure =>
  new Failure(
    'refused',
    `the server shows two keys for ${name} (${principalId}); nothing was signed`,
    'do not use this server, and tell your organization’s owner',
  )
