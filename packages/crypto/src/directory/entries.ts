import { limits } from '@skerry/contract/limits'
import { displayNamePattern } from '@skerry/contract/patterns'
import { type Bytes, encodeUtf8 } from '../base64url.ts'
import { canonicalJson } from '../canonical-json.ts'
import { CryptoError } from '../errors.ts'
import { bodyBytesMax } from './document.ts'
import { malformed } from './refusal.ts'
import {
  appEnvironmentPattern,
  type Check,
  either,
  email,
  groupEnvironmentPattern,
  hash,
  id,
  jwk,
  line,
  list,
  nullable,
  object,
  oneOf,
  parseCanonical,
  requireShape,
  slug,
  text,
  whole,
} from './shape.ts'

/** A person, and the thumbprint of the key that others wrap to. */
interface PersonEntry {
  email: string
  kid: string
}

/** A service token. `environment` is the one that it is bound to, as `app/env`. */
interface TokenEntry {
  name: string
  environment: string | null
  kid: string
}

/** A program that holds keys to do work: the rotator, a sync connection, a worker. */
interface WorkerEntry {
  kid: string
  heldBy: 'customer' | 'server'
}

/** The application, environment and branch, or the group, that a name of an environment means. */
interface EnvironmentEntry {
  id: string
  /** See `environmentKeyCommitment`. */
  key: string
  /** The group environments that it includes, as `group:env`, lowest precedence first. */
  layers: readonly string[]
  /** See `readersHash`. */
  readers: string
}

/** A version of a managed key: a commitment for a key that encrypts, the public key for a key that signs. */
type ManagedKeyVersion =
  | { version: number; commitment: string }
  | { version: number; jwk: Readonly<Record<string, string>> }

interface ManagedKeyEntry {
  id: string
  readers: string
  versions: readonly ManagedKeyVersion[]
}

interface EntryKinds {
  person: PersonEntry
  token: TokenEntry
  worker: WorkerEntry
  environment: EnvironmentEntry
  key: ManagedKeyEntry
}

type EntryKind = keyof EntryKinds

/** A fact that a signer vouches for: its key, such as `environment/shop/production`, and its members. */
export type DirectoryEntry = { [Kind in EntryKind]: { key: `${Kind}/${string}`; value: EntryKinds[Kind] } }[EntryKind]

const layersMax = 100
const versionsMax = 1000

const ed25519Jwk = object({ crv: oneOf('Ed25519'), kty: oneOf('OKP'), x: hash })
const anyJwk: Check = either('y', jwk, ed25519Jwk)

/** Each kind: the part of its key after the slash, and its members. */
const kinds: Readonly<Record<EntryKind, { name: Check; value: Check }>> = {
  person: {
    name: id('user'),
    value: object({ email: email, kid: hash }),
  },
  token: {
    name: id('serviceToken'),
    value: object({
      name: line(displayNamePattern, limits.displayNameCharacters, 'a name'),
      environment: nullable(text(appEnvironmentPattern, 'app/env')),
      kid: hash,
    }),
  },
  worker: {
    name: text(/^[a-z0-9]{2,4}_[0-9A-Za-z]{22}$/, 'an id'),
    value: object({ kid: hash, heldBy: oneOf('customer', 'server') }),
  },
  environment: {
    name: (value) =>
      appEnvironmentPattern.test(value as string) || groupEnvironmentPattern.test(value as string)
        ? null
        : ' must be app/env or group:env',
    value: object({
      id: id('environment'),
      key: hash,
      layers: list(text(groupEnvironmentPattern, 'group:env'), 0, layersMax),
      readers: hash,
    }),
  },
  key: {
    name: slug,
    value: object({
      id: id('kmsKey'),
      readers: hash,
      versions: list(
        either(
          'commitment',
          object({ version: whole(1), commitment: hash }),
          object({ version: whole(1), jwk: anyJwk }),
        ),
        1,
        versionsMax,
      ),
    }),
  },
}

const isKind = (kind: string): kind is EntryKind => Object.hasOwn(kinds, kind)

/**
 * Writes an entry as the text whose hash is a leaf of the tree: the canonical JSON of `[key, members]`.
 *
 * @throws CryptoError `directory_malformed`, `directory_unsupported`.
 * @example
 * const entry = { key: `worker/${connectionId}`, value: { kid: remembered, heldBy: 'server' } } as const
 * formatEntry(entry) // '["worker/syn_...",{"heldBy":"server","kid":"..."}]'
 */
export function formatEntry({ key, value }: DirectoryEntry): string {
  const written = canonicalJson([key, value])
  parseEntry(written)
  return written
}

/**
 * Parses an entry, and refuses every spelling but one.
 *
 * @throws CryptoError `directory_malformed`; `directory_unsupported` for a kind that this program does not know.
 * @example const { key, value } = parseEntry(body)
 */
export function parseEntry(written: string): DirectoryEntry {
  const bytes = entryBytes(written)
  const parsed = parseCanonical(bytes)
  if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[0] !== 'string')
    throw malformed('an entry must be a key and its members')
  const [key, value] = parsed as [string, unknown]
  requireEntryKey(key)
  const kind = key.slice(0, key.indexOf('/')) as EntryKind
  requireShape(kind, kinds[kind].value, value)
  if (kind === 'environment') requireLayers(key, value as EnvironmentEntry)
  if (kind === 'key') requireVersions(value as ManagedKeyEntry)
  return { key, value } as DirectoryEntry
}

function entryBytes(written: string): Bytes {
  if (typeof written !== 'string' || written.length > bodyBytesMax || !written.isWellFormed())
    throw malformed('an entry must be a text of at most 64 KiB')
  const bytes = encodeUtf8(written)
  if (bytes.length > bodyBytesMax) throw malformed('an entry must be a text of at most 64 KiB')
  return bytes
}

/**
 * Refuses a text that cannot be the key of an entry, such as a name with a capital letter.
 *
 * @throws CryptoError `directory_malformed`; `directory_unsupported` for a kind that this program does not know.
 */
export function requireEntryKey(key: string): void {
  const slash = key.indexOf('/')
  const kind = key.slice(0, Math.max(slash, 0))
  if (kind === 'state') throw new CryptoError('directory_unsupported', 'it has guarded environments')
  if (!isKind(kind)) throw new CryptoError('directory_unsupported', 'it has an entry of an unknown kind')
  requireShape(`the name after ${kind}/`, kinds[kind].name, key.slice(slash + 1))
}

function requireLayers(key: string, { layers }: EnvironmentEntry): void {
  if (new Set(layers).size < layers.length) throw malformed('environment.layers names a layer twice')
  if (key.includes(':') && layers.length > 0) throw malformed('environment.layers must be empty for a group')
}

/** Versions count up, and a key either encrypts or signs, in all of its versions. */
function requireVersions({ versions }: ManagedKeyEntry): void {
  for (const [index, one] of versions.entries()) {
    const before = versions[index - 1]
    if (!before) continue
    if (one.version <= before.version) throw malformed('key.versions must count up')
    if ('commitment' in one !== 'commitment' in before) throw malformed('key.versions must all be of one kind')
  }
}
