import { readerWords } from '@skerry/contract/grants/readers'
import { idPrefixes } from '@skerry/contract/prefixes'
import { canonicalJson } from '@skerry/crypto/canonical-json'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { RootSigner } from '@skerry/crypto/directory/root'
import type { Difference } from './differences.ts'
import type { SignedDirectory } from './open.ts'
import type { ReaderChanges } from './readers.ts'

/** Finds the name that people use for the key of an entry: an e-mail address, the name of a token. */
export type EntryNames = (entryKey: string) => string

type Named = { email?: unknown; name?: unknown }

const nameIn = (value: unknown): string | undefined => {
  const { email, name } = (value ?? {}) as Named
  return typeof email === 'string' ? email : typeof name === 'string' ? name : undefined
}

/** Names from signed entries first, and from claims of the server for those without one. */
export function entryNames(
  directory: Pick<SignedDirectory, 'entries'> | null,
  claims: ReadonlyMap<string, { value: unknown }> = new Map(),
): EntryNames {
  return (key) => {
    const found = nameIn(directory?.entries.get(key)?.value) ?? nameIn(claims.get(key)?.value)
    if (found !== undefined) return found
    const id = key.slice(key.indexOf('/') + 1)
    if (!key.startsWith('worker/')) return id
    return id.startsWith(idPrefixes.organization) ? readerWords.rotator : `${readerWords.sync_connection} (${id})`
  }
}

const kindWords: Readonly<Record<string, string>> = {
  environment: 'environment',
  key: 'managed key',
  person: 'person',
  token: 'token',
  worker: 'worker',
}

/** The kind and the name of an entry: `environment shop/production`, `managed key payments`. */
export function entryWords(key: string, nameOf: EntryNames): string {
  if (key === 'root') return 'the signers'
  if (key === 'recovery') return 'the recovery key'
  const [kind = ''] = key.split('/', 1)
  const name = key.slice(kind.length + 1)
  if (kind === 'environment') return `environment ${name}`
  if (kind === 'key') return `managed key ${name}`
  return kind === 'worker' ? nameOf(key) : `${kindWords[kind]} ${nameOf(key)}`
}

const readerLines = ({ added, ended }: ReaderChanges, nameOf: EntryNames): string[] => [
  ...added.map(([key]) => `reader ${nameOf(key)} added`),
  ...ended.map(([key]) => `reader ${nameOf(key)} removed`),
]

/** What a member of an entry means to people. Another member is shown by its name. */
const memberWords: Readonly<Record<string, (signed: unknown, claimed: unknown) => string>> = {
  id: (signed, claimed) => `the name means another object now (${claimed}, not ${signed})`,
  key: () => 'no signer has signed its key',
  kid: () => 'its public key is another one',
  layers: (signed, claimed) => `includes ${listOf(claimed)} (signed: ${listOf(signed)})`,
  versions: (signed, claimed) => versionWords(signed as readonly Version[], claimed as readonly Version[]),
  environment: (signed, claimed) =>
    `is bound to ${claimed ?? 'no environment'} (signed: ${signed ?? 'no environment'})`,
}

interface Version {
  version: number
}

/** Says which versions of a managed key have another key than the signed one, and how many versions there are. */
function versionWords(signed: readonly Version[], claimed: readonly Version[]): string {
  const isOther = (one: Version) => {
    const before = signed.find(({ version }) => version === one.version)
    return before !== undefined && canonicalJson(before) !== canonicalJson(one)
  }
  const others = claimed.filter(isOther).map(({ version }) => `version ${version} has another key`)
  const counts =
    claimed.length === signed.length && others.length > 0
      ? []
      : [`has ${claimed.length} versions (signed: ${signed.length})`]
  return [...others, ...counts].join(', ')
}

const listOf = (value: unknown): string => {
  const names = value as readonly string[]
  return names.length === 0 ? 'no group' : names.join(', ')
}

/** The parts of a difference, as the ends of a sentence that begins with the entry. */
function partsOf(one: Difference, nameOf: EntryNames): string[] {
  if (one.kind === 'ended') return ['deleted']
  if (one.kind === 'added') {
    return [['new', ...newMembers(one, nameOf)].join(', ')]
  }
  const members = one.members.map(({ name, signed, claimed }) =>
    Object.hasOwn(memberWords, name)
      ? memberWords[name]!(signed, claimed)
      : `${name} is ${claimed} now (signed: ${signed})`,
  )
  return [...members, ...changedReaders(one, nameOf)]
}

/** The members of a new entry that say what belongs together. */
function newMembers({ next, claimedReaders }: Difference, nameOf: EntryNames): string[] {
  const { layers = [], environment = null } = (next ?? {}) as {
    layers?: readonly string[]
    environment?: string | null
  }
  const readers = claimedReaders?.map(([key]) => nameOf(key)) ?? []
  return [
    ...(environment === null ? [] : [`bound to ${environment}`]),
    ...(layers.length === 0 ? [] : [`includes ${layers.join(', ')}`]),
    ...(readers.length === 0 ? [] : [`with the readers ${readers.join(', ')}`]),
  ]
}

function changedReaders({ readers, claimedReaders }: Difference, nameOf: EntryNames): string[] {
  if (readers) return readerLines(readers, nameOf)
  if (claimedReaders === null) return []
  const names = claimedReaders.map(([key]) => nameOf(key))
  return [`the readers differ from those that were signed; the server lists ${names.join(', ') || 'none'}`]
}

/** A difference as one line: `environment shop/production: reader Ada added`. */
export const differenceLine = (one: Difference, nameOf: EntryNames): string =>
  `${entryWords(one.key, nameOf)}: ${partsOf(one, nameOf).join('; ')}`

/** What a signed member means when the signer's own change made it. */
const signedWords: Readonly<Record<string, (signed: unknown) => string>> = {
  key: () => 'new key',
  kid: () => 'new public key',
  // The API names groups by id, so a person compares which one the server meant.
  layers: (signed) => `includes ${listOf(signed)}`,
  name: (signed) => `new name ${signed}`,
  versions: () => 'new version',
}

/** Says what a change has signed about one entry. */
export function signedParts(
  before: DirectoryEntry | undefined,
  after: DirectoryEntry | undefined,
  readers: ReaderChanges | undefined,
  nameOf: EntryNames,
): string[] {
  if (!after) return ['deleted']
  if (!before) return ['added']
  const [old, next] = [before.value, after.value] as unknown as Record<string, unknown>[]
  const members = Object.keys(signedWords).filter(
    (name) => canonicalJson([old?.[name]]) !== canonicalJson([next?.[name]]),
  )
  const parts = [
    ...members.map((name) => signedWords[name]!(next?.[name])),
    ...(readers ? readerLines(readers, nameOf) : []),
  ]
  return parts.length === 0 ? ['changed'] : parts
}

type WithRoot = Pick<SignedDirectory, 'root'>

/** A new root with the signers who left it: `root 3: Bob signs no more`. `name` is that of the root. */
export function signersLine(name: string, before: WithRoot, after: WithRoot, nameOf: EntryNames): string {
  const isLeft = ({ kid }: RootSigner) => !after.root.body.signers.some((one) => one.kid === kid)
  const left = before.root.body.signers
    .filter(isLeft)
    .map((one) => `${nameOf('person' in one ? `person/${one.person}` : `token/${one.token}`)} signs no more`)
  return left.length === 0 ? name : `${name}: ${[...new Set(left)].join(', ')}`
}
