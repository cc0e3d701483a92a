import { encodeBase64url } from '@skerry/crypto/base64url'
import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { EntryOf } from '@skerry/crypto/directory/proof'
import type { RootBody, RootDraft } from '@skerry/crypto/directory/root'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { randomBytes } from '@skerry/crypto/random'
import type { Client, TypedNames } from '../client.ts'
import { type Claim, fetchClaims, type SignedDirectory } from './open.ts'
import { compareReaders, explainReaders, isIn, type ReaderChanges } from './readers.ts'
import { signRoot } from './signing.ts'

/** Opens keys that are wrapped to the caller, and commits to them. In a browser, only a worker has the keys. */
interface KeyCommitments {
  environment: (id: string, blob: string) => Promise<string>
  managed: (id: string, version: number, blob: string) => Promise<string>
}

/** The knowledge of a signer's client beside the directory. */
export interface SignerContext {
  /** The client of requests that only read. */
  client: Client
  orgId: string
  /** The key of the caller's own entry: `person/…` or `token/…`. */
  own: string
  /** The thumbprint of the caller's own key. */
  ownKid: string
  commitments: KeyCommitments
  signer: DirectorySigner
  /** Whether this machine knows that a person, a token or a worker has this key, and this address or name. */
  vouch: (entryKey: string, claimed: ClaimedHolder) => boolean | Promise<boolean>
}

/** The members of an entry that a signer vouches for, as the server claims them. */
interface ClaimedHolder {
  kid: string
  /** The address of a person. */
  email?: string
  /** The name of a token. */
  name?: string
  /** The environment that a token is bound to. */
  environment?: string | null
}

type Value = DirectoryEntry['value']
type EnvironmentKey = `environment/${string}`
type SharedKey = EnvironmentKey | `key/${string}`

/** A principal as the API names it. */
export interface Principal {
  principalType: string
  principalId: string
}

/**
 * An edit while it is made: the entries as they are after the change. It takes nothing from the server that nobody signed,
 * except ends. An entry that it cannot vouch for stays as it was signed, and is in `unsigned`.
 */
export class DirectoryDraft {
  readonly directory: SignedDirectory
  readonly context: SignerContext
  readonly entries = new Map<string, Value | null>()
  /** A new root, if the change needs one. */
  root: string | undefined
  /** Keys of entries that the change affects and that this draft cannot sign. */
  readonly unsigned = new Set<string>()
  /** The names that the user gave to the ids in the request. */
  typed: TypedNames = {}
  readonly #claims = new Map<string, Claim>()
  #hasAll = false

  constructor(directory: SignedDirectory, context: SignerContext) {
    this.directory = directory
    this.context = context
  }

  /** The members of an entry as they are after this edit so far. */
  valueOf<Key extends string>(key: Key): EntryOf<Key>['value'] | undefined {
    if (this.entries.has(key)) return (this.entries.get(key) ?? undefined) as EntryOf<Key>['value'] | undefined
    return this.directory.entries.get(key)?.value as EntryOf<Key>['value'] | undefined
  }

  set(key: string, value: Value): void {
    this.entries.set(key, value)
  }

  end(key: string): void {
    if (this.directory.entries.has(key) || this.entries.has(key)) this.entries.set(key, null)
  }

  /** The entries of a kind, as they are after this edit so far. */
  *all<Kind extends DirectoryEntry['key']>(prefix: Kind extends `${infer K}/${string}` ? `${K}/` : never) {
    for (const key of new Set([...this.directory.entries.keys(), ...this.entries.keys()])) {
      const value = key.startsWith(prefix) ? this.valueOf(key) : undefined
      if (value !== undefined) yield [key as Kind, value as EntryOf<Kind>['value']] as const
    }
  }

  /** The key of the entry of an environment with this id; undefined for a branch, and if nobody signed it. */
  environmentKey(id: string): EnvironmentKey | undefined {
    for (const [key, value] of this.all<EnvironmentKey>('environment/')) if (value.id === id) return key
    return undefined
  }

  /** The key of the entry of a managed key with this id. */
  managedKey(id: string): `key/${string}` | undefined {
    for (const [key, value] of this.all<`key/${string}`>('key/')) if (value.id === id) return key
    return undefined
  }

  /** Reads what the server claims about these entries. */
  async claims(keys: readonly string[]): Promise<void> {
    const missing = keys.filter((key) => !this.#claims.has(key))
    if (this.#hasAll || missing.length === 0) return
    for (const [key, claim] of await fetchClaims(this.context.client, this.context.orgId, missing))
      this.#claims.set(key, claim)
  }

  /** Reads all claims of the server. */
  async allClaims(): Promise<ReadonlyMap<string, Claim>> {
    if (!this.#hasAll) {
      for (const [key, claim] of await fetchClaims(this.context.client, this.context.orgId))
        this.#claims.set(key, claim)
      this.#hasAll = true
    }
    return this.#claims
  }

  claimOf(key: string): Claim | undefined {
    const claim = this.#claims.get(key)
    return claim?.value === null ? undefined : claim
  }

  /**
   * Returns the entry of a principal as a reader of `of`. Without an entry, adds one if this machine vouches for the key.
   */
  async reader(principal: Principal, of?: SharedKey): Promise<Reader | null> {
    const key = entryKeyOf(principal, this.context.orgId)
    const signed = this.#kidOf(key)
    if (signed !== undefined) return [key, signed]
    return (await this.vouched(key, undefined, of)) ? [key, this.#kidOf(key)!] : null
  }

  #kidOf(key: string): string | undefined {
    const value: unknown = this.valueOf(key)
    return (value as { kid: string } | undefined)?.kid
  }

  /**
   * Adds the entry of a person, a token or a worker as the server claims it, if this machine knows its key.
   *
   * @param madeKid the thumbprint of the key, if the caller has just made its holder.
   * @param of the environment or the managed key that the holder is to read. A token that the server calls bound to another
   *   environment is not signed, because the caller knows nothing of that.
   */
  async vouched(key: string, madeKid?: string, of?: SharedKey): Promise<boolean> {
    await this.claims([key])
    const value = this.claimOf(key)?.value as ClaimedHolder | undefined
    const isKnown =
      typeof value?.kid === 'string' &&
      this.#isBoundTo(value.environment, of) &&
      (key === this.context.own
        ? value.kid === this.context.ownKid
        : value.kid === madeKid || (await this.context.vouch(key, value)))
    if (isKnown) this.set(key, value as Value)
    else this.unsigned.add(key)
    return isKnown
  }

  /** Whether an environment that a token is bound to is, or includes, the one that it is to read. */
  #isBoundTo(bound: string | null | undefined, of: SharedKey | undefined): boolean {
    if (bound === null || bound === undefined || of === undefined) return true
    const key = `environment/${bound}` as const
    return key === of || (this.valueOf(key)?.layers.includes(nameOf(of)) ?? false)
  }

  /**
   * Changes the readers of an environment or a managed key. The present list is the server's, and must be the signed one, or
   * the signed one without readers whose access ended. After a change the server lists its new readers, too: then this edit
   * must add them.
   */
  async changeReaders(key: SharedKey, change: (readers: readonly Reader[]) => readonly Reader[]): Promise<void> {
    const entry = this.valueOf(key)
    if (!entry) return
    const listed = await this.#listedReaders(key)
    if (listed === null) {
      this.unsigned.add(key)
      return
    }
    const present = this.#changedReaders.get(key) ?? listed.signed
    if (!this.#before.has(key)) this.#before.set(key, listed.before)
    const next = change(present)
    this.#changedReaders.set(key, next)
    if (!listed.unsigned.every(isIn(next))) {
      this.#unexplained.add(key)
      this.unsigned.add(key)
      return
    }
    if (this.#unexplained.delete(key)) this.unsigned.delete(key)
    this.#noteReaders(key, next)
    this.set(key, { ...entry, readers: await readersHash(next) } as Value)
  }

  readonly #changedReaders = new Map<string, readonly Reader[]>()
  readonly #before = new Map<string, readonly Reader[]>()
  /** Keys of entries with a reader whom nobody signed, and whom this edit has not added so far. */
  readonly #unexplained = new Set<string>()
  /** The readers that each entry gains and loses with this edit, by the key of the entry. */
  readonly readerChanges = new Map<string, ReaderChanges>()

  #noteReaders(key: string, after: readonly Reader[]): void {
    this.readerChanges.set(key, compareReaders(this.#before.get(key) ?? [], after))
  }

  /** Sets the readers of an environment or a managed key, whoever read it before. */
  async setReaders(key: SharedKey, principals: readonly Principal[]): Promise<string | null> {
    await this.claims(principals.map((one) => entryKeyOf(one, this.context.orgId)).filter((one) => !this.valueOf(one)))
    const readers: Reader[] = []
    for (const one of principals) {
      const reader = await this.reader(one, key)
      if (!reader) return null
      readers.push(reader)
    }
    this.#before.set(key, this.directory.entries.has(key) ? ((await this.#listedReaders(key))?.before ?? []) : [])
    this.#changedReaders.set(key, readers)
    this.#noteReaders(key, readers)
    return readersHash(readers)
  }

  /** Makes the caller the only reader of a new environment. */
  async addOwnReader(key: SharedKey, own: Reader): Promise<void> {
    this.#changedReaders.set(key, [own])
    this.set(key, { ...this.valueOf(key)!, readers: await readersHash([own]) } as Value)
  }

  /**
   * The signed readers, and those whom the server lists now: readers who were signed, and others. Null if the server does not
   * show the signed list.
   */
  async #listedReaders(key: SharedKey): Promise<Record<'before' | 'signed' | 'unsigned', readonly Reader[]> | null> {
    await this.claims([key])
    const signed = this.directory.entries.get(key)?.value as { readers: string } | undefined
    const claim = this.#claims.get(key)
    if (!signed || !claim?.readers) return null
    const changes = await explainReaders(signed.readers, claim)
    if (changes === null) return null
    const still = claim.readers.filter((one) => !isIn(changes.added)(one))
    return { before: [...still, ...changes.ended], signed: still, unsigned: changes.added }
  }

  /** Ends persons, tokens or workers, and takes them from every list of readers. */
  async endPrincipals(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    const ended = new Set(keys)
    for (const key of ended) this.end(key)
    await this.allClaims()
    for (const [key] of [...this.#shared()]) {
      // The server could leave somebody out of the present list, so that the signed one keeps a reader without an entry.
      const listed = await this.#listedReaders(key)
      const isReader = listed?.before.some(([reader]) => ended.has(reader)) ?? true
      if (isReader) await this.changeReaders(key, (all) => all.filter(([reader]) => !ended.has(reader)))
    }
  }

  /** The entries of environments and managed keys, which have readers. */
  *#shared() {
    yield* this.all<EnvironmentKey>('environment/')
    yield* this.all<`key/${string}`>('key/')
  }

  /** Ends environments by name, with the tokens that are bound to them, and takes groups from the layers of others. */
  async endEnvironments(isEnded: (name: string) => boolean): Promise<void> {
    const ended = new Set([...this.all<EnvironmentKey>('environment/')].map(([key]) => nameOf(key)).filter(isEnded))
    const bound = [...this.all<`token/${string}`>('token/')].filter(([, { environment }]) =>
      ended.has(environment ?? ''),
    )
    for (const name of ended) this.end(`environment/${name}`)
    await this.endPrincipals(bound.map(([key]) => key))
    for (const [key, value] of this.all<EnvironmentKey>('environment/')) {
      const layers = value.layers.filter((layer) => !ended.has(layer))
      if (layers.length < value.layers.length) this.set(key, { ...value, layers })
    }
  }

  /**
   * Changes the root. The caller alone can do so only if one signer is enough. Otherwise `part` is in `unsigned`: `root` for
   * the signers, `recovery` for the recovery key.
   */
  async changeRoot(change: (root: RootBody) => Partial<RootDraft>, part: 'root' | 'recovery' = 'root'): Promise<void> {
    const { body } = this.directory.root
    const wanted = change(body)
    if (Object.keys(wanted).length === 0) return
    if (body.threshold > 1) this.unsigned.add(part)
    else this.root = await signRoot(this.directory, wanted, [this.context.signer])
  }

  /**
   * Signs what the server says has ended: principals without a claim, and readers without access. Nobody gains anything.
   *
   * @param mayEnd whether the change can end this person, token or worker. The server could leave out others, too.
   */
  async signEnds(mayEnd: (key: string) => boolean): Promise<void> {
    const claims = await this.allClaims()
    for (const { key, value } of this.directory.entries.values())
      if ('kid' in value && !claims.has(key) && mayEnd(key)) this.end(key)
    for (const [key] of [...this.#shared()]) {
      const listed = await this.#listedReaders(key)
      const ended = listed?.before.filter((one) => !isIn(listed.signed)(one)).map(([reader]) => reader) ?? []
      if (listed === null || (ended.some(mayEnd) && !ended.every(mayEnd))) this.unsigned.add(key)
      else if (ended.some(mayEnd)) await this.changeReaders(key, (all) => all)
    }
  }
}

const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1)

/** The kinds of entries, by the type of principal that the API writes. The rotator has the id of its organization. */
export function entryKeyOf({ principalType, principalId }: Principal, orgId: string): string {
  if (principalType === 'user') return `person/${principalId}`
  if (principalType === 'service_token') return `token/${principalId}`
  return `worker/${principalType === 'rotator' ? orgId : principalId}`
}

/** A thumbprint of no key: the entry of a decoy has one, so that a decoy looks like any token. */
export const randomKid = (): string => encodeBase64url(randomBytes(32))
