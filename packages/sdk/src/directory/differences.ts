import { canonicalJson } from '@skerry/crypto/canonical-json'
import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import { type DirectoryEntry, formatEntry } from '@skerry/crypto/directory/entries'
import type { EntryOf } from '@skerry/crypto/directory/proof'
import { randomKid } from './draft.ts'
import type { Claim } from './open.ts'
import { explainReaders, type ReaderChanges } from './readers.ts'

type Value = DirectoryEntry['value']
type Environment = EntryOf<`environment/${string}`>['value']
type ManagedKey = EntryOf<`key/${string}`>['value']

/** A member that the server claims otherwise than it was signed. */
interface ChangedMember {
  name: string
  signed: unknown
  claimed: unknown
}

/** An entry that is not as the server claims. */
export interface Difference {
  key: string
  kind: 'added' | 'ended' | 'changed'
  /** The members that differ, without the readers. A member `key` is a key that no signer has signed. */
  members: readonly ChangedMember[]
  /** The readers who were added and who ended; null if the server does not show the list that was signed, or if they are equal. */
  readers: ReaderChanges | null
  /** The readers as the server lists them, if they differ. */
  claimedReaders: readonly Reader[] | null
  /** The members to sign; null to end the entry; undefined if this client cannot sign it, because it cannot open the key. */
  next: Value | null | undefined
  /** Whether the server claims no key for this token. The thumbprint in `next` is random then, as that of a decoy is. */
  isDecoy?: boolean
}

/** Opens keys and computes what an entry says about them. Each returns null if the caller does not hold the key. */
export interface KeyOpener {
  /** The commitment to the key of an environment. */
  environment: (id: string, readers: readonly Reader[]) => Promise<string | null>
  /** The commitments to the versions of a managed key that encrypts. */
  managed: (id: string, readers: readonly Reader[]) => Promise<ManagedKey['versions'] | null>
}

/**
 * Compares the claims of the server with the signed entries.
 *
 * @param entries the signed entries; none if there is no directory yet.
 * @param claims all claims of the server.
 * @returns the differences, sorted by key.
 * @example
 * const opener = { environment: async () => null, managed: async () => null }
 * const { claims } = await client.directory.claims({ params: { orgId } })
 * const shown = new Map(claims.map((claim) => [claim.key, claim]))
 * const differences = await compareClaims(new Map(), shown, opener)
 */
export async function compareClaims(
  entries: ReadonlyMap<string, DirectoryEntry>,
  claims: ReadonlyMap<string, Claim>,
  opener: KeyOpener,
): Promise<Difference[]> {
  const present = [...claims.values()].filter(({ value }) => value !== null)
  const presentKeys = new Set(present.map(({ key }) => key))
  const found = await eachOf(present, (claim) => compareOne(entries.get(claim.key), claim, opener))
  const ended = [...entries.keys()].filter((key) => !presentKeys.has(key)).map(endOf)
  return [...found.filter((one) => one !== null), ...ended].sort((one, other) => (one.key < other.key ? -1 : 1))
}

const endOf = (key: string): Difference => ({
  key,
  kind: 'ended',
  members: [],
  readers: null,
  claimedReaders: null,
  next: null,
})

/** Requests for keys that run at once. */
const parallel = 16

async function eachOf<T, R>(list: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(list.length)
  const rest = list.entries()
  const worker = async () => {
    for (const [at, one] of rest) results[at] = await work(one)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return results
}

async function compareOne(
  entry: DirectoryEntry | undefined,
  claim: Claim,
  opener: KeyOpener,
): Promise<Difference | null> {
  const next = await claimedValue(entry, claim, opener)
  const kind = entry ? 'changed' : 'added'
  if (next === undefined) return { ...endOf(claim.key), kind, next: undefined, claimedReaders: claim.readers }
  if (entry && formatEntry(entry) === formatEntry({ key: claim.key, value: next } as DirectoryEntry)) return null
  const signed = entry?.value as Record<string, unknown> | undefined
  const changesReaders = signed !== undefined && signed.readers !== (next as { readers?: string }).readers
  return {
    key: claim.key,
    kind,
    members: signed ? changedMembers(signed, next as unknown as Record<string, unknown>) : [],
    readers: changesReaders ? await explainReaders(String(signed.readers), claim) : null,
    claimedReaders: changesReaders || !signed ? claim.readers : null,
    next,
    ...(isDecoy(claim) ? { isDecoy: true } : {}),
  }
}

const changedMembers = (signed: Record<string, unknown>, next: Record<string, unknown>): ChangedMember[] =>
  Object.keys(next)
    .filter((name) => name !== 'readers' && canonicalJson([signed[name]]) !== canonicalJson([next[name]]))
    .map((name) => ({ name, signed: signed[name], claimed: next[name] }))

/** The entry as the server claims it; undefined if it needs a key that the caller does not hold. */
async function claimedValue(
  entry: DirectoryEntry | undefined,
  { key, value, readers }: Claim,
  opener: KeyOpener,
): Promise<Value | undefined> {
  if (key.startsWith('environment/')) return environmentOf(entry?.value as Environment, value as never, readers, opener)
  if (key.startsWith('key/')) return managedKeyOf(entry?.value as ManagedKey, value as never, readers, opener)
  if (!isDecoy({ key, value })) return value as never
  const signed = entry?.value as { kid?: string; name?: string } | undefined
  return decoyOf(value as { environment: string | null }, signed)
}

/** A token for which the server claims no key. */
const isDecoy = ({ key, value }: Pick<Claim, 'key' | 'value'>): boolean =>
  key.startsWith('token/') && (value as { kid?: string }).kid === undefined

/** The entry of a decoy looks like that of any token. Its name and its thumbprint are the signer's to choose. */
export const decoyOf = (
  { environment }: { environment: string | null },
  signed?: { kid?: string; name?: string },
): Value => ({ name: signed?.name ?? 'deploy', environment: environment ?? null, kid: signed?.kid ?? randomKid() })

async function environmentOf(
  signed: Environment | undefined,
  { id, layers }: Pick<Environment, 'id' | 'layers'>,
  readers: Claim['readers'],
  opener: KeyOpener,
): Promise<Environment | undefined> {
  const opened = await opener.environment(id, readers ?? [])
  const key = opened ?? (signed?.id === id ? signed.key : undefined)
  if (key === undefined) return undefined
  return { id, key, layers, readers: await readersHash(readers ?? []) }
}

async function managedKeyOf(
  signed: ManagedKey | undefined,
  { id, versions: claimed }: { id: string; versions: readonly { version: number; jwk?: unknown }[] },
  readers: Claim['readers'],
  opener: KeyOpener,
): Promise<ManagedKey | undefined> {
  const isOpen = claimed.every(({ jwk }) => jwk)
  const opened = isOpen ? [] : await opener.managed(id, readers ?? [])
  const known = new Map((signed?.id === id ? signed.versions : []).map((one) => [one.version, one]))
  for (const one of opened ?? []) known.set(one.version, one)
  const versions = claimed.map(({ version, jwk }) => (jwk ? { version, jwk } : known.get(version)))
  if (versions.some((one) => one === undefined)) return undefined
  return { id, readers: await readersHash(readers ?? []), versions: versions as ManagedKey['versions'] }
}
