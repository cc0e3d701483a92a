import { type Bytes, encodeBase64url } from '@skerry/crypto/base64url'
import { hkdf } from '@skerry/crypto/hkdf'
import type { Cache } from './cache.ts'
import { SkerryError } from './errors.ts'
import { hexSha256 } from './sealed-copy.ts'

/** What is there now and was otherwise before, in a way that an honest server seldom shows. */
export interface WentBack {
  /**
   * - `layer_missing`: a layer that this query had is not there.
   * - `key_changed`: the environment has another key. After a re-key, or because the server put its own in.
   * - `value_came_back`: a ciphertext that had been replaced is current again, and nobody restored it.
   * - `version_went_back`: a secret's version is lower than it was.
   */
  kind: 'layer_missing' | 'key_changed' | 'value_came_back' | 'version_went_back'
  environmentId: string
  /** Of a layer, `shop/production`-like words; of a secret, its name. */
  what: string
}

const words: Record<WentBack['kind'], (what: string) => string> = {
  layer_missing: (what) => `layer ${what} is missing`,
  key_changed: (what) => `the key of ${what} is another one`,
  value_came_back: (what) => `an earlier value of ${what} came back`,
  version_went_back: (what) => `the version of ${what} went back`,
}

/** The server answers something older than, or other than, what this client has seen. Code `went_back`. */
export class WentBackError extends SkerryError {
  override readonly name = 'WentBackError'
  readonly changes: readonly WentBack[]

  constructor(changes: readonly WentBack[]) {
    super('went_back', changes.map(({ kind, what }) => words[kind](what)).join('; '))
    this.changes = changes
  }
}

/** A secret as an answer shows it; `id` and `version` where the answer has them. */
export interface ShownSecret {
  name: string
  ciphertext: string
  id?: string
  version?: number
}

/** What is asked when a replaced ciphertext is current again: the newest entry of the secret's history. */
export type NewestVersion = (
  name: string,
) => Promise<{ version: number; ciphertext: string; restoredFromVersion: number | null } | undefined>

export interface ShownEnvironment {
  environmentId: string
  label: string
  /** 32 bytes; a fingerprint of it is kept. */
  key?: Bytes
  secrets?: readonly ShownSecret[]
  newestVersion?: NewestVersion
}

export interface Seen {
  /**
   * Compares environments with what was seen of them before and remembers them; `layers` says that they are all layers
   * of one query.
   *
   * @param layers what names the query, in one spelling.
   * @throws WentBackError, and then nothing is remembered.
   */
  check(environments: readonly ShownEnvironment[], layers?: string): Promise<void>
  /** This client has deleted these secrets: that they are gone is no news. */
  deleted(environmentId: string, names: readonly string[]): Promise<void>
  /** This client has given the environment this key (32 bytes): another one is news, this one is none. */
  rekeyed(environmentId: string, key: Bytes): Promise<void>
}

export interface SeenSettings {
  /** Where it is kept, for example `diskCache({ directory })`. What is lost there is seen for the first time again. */
  store: Cache
  baseUrl: string
  /** Who is reading: two principals share nothing. */
  principalId: string
  /** Asked about what went back. Returning accepts it, and it is remembered as the new state; throws it unless given. */
  onWentBack?: (error: WentBackError) => void
  /** Told of names that are no longer there, once; deleting is what people do, so it is never refused. */
  onGone?: (label: string, names: string[]) => void
  /** Told when the store fails, which stops nothing. */
  warn?: (message: string) => void
}

interface SeenSecret {
  hash: string
  /** Hashes of ciphertexts that were replaced, oldest first. */
  past: string[]
  id?: string
  version?: number
  gone?: true
}

interface SeenEnvironment {
  key?: string
  secrets: Record<string, SeenSecret>
}

const pastMax = 100
const hashCharacters = 22
/** Changing it makes every environment's key look new once. */
const keyInfo = 'skerry/environment-key-fingerprint/v1'

/**
 * A client's memory. Ciphertext does not say that it is the newest, and a wrapped key does not say who wrapped it, so a
 * hostile server can answer with what was true once, or with an environment of its own making. What this client has seen
 * before, it cannot take back unnoticed. Nothing helps at the first sight, and a server that enters a restore into the
 * history can bring a value back in the open.
 *
 * Kept are fingerprints of keys and ciphertexts, and names of secrets; no values.
 *
 * @example
 * const seen = createSeen({ store: diskCache({ directory }), baseUrl, principalId: tokenId })
 * const skerry = createSkerry({ baseUrl, token, seen })
 */
export function createSeen(settings: SeenSettings): Seen {
  const { store, baseUrl, principalId, onWentBack = refuse, onGone = () => {}, warn = () => {} } = settings
  const place = (kind: string, id: string) => hexSha256(['skerry-seen-v1', baseUrl, principalId, kind, id].join('\n'))
  const read = async <T>(key: string, fallback: T): Promise<T> => {
    try {
      const text = await store.read(key)
      return text === undefined ? fallback : (JSON.parse(text) as T)
    } catch {
      warn('what was seen before cannot be read')
      return fallback
    }
  }
  const write = async (key: string, value: unknown) => {
    await store.write(key, JSON.stringify(value)).catch(() => warn('what was seen cannot be kept'))
  }

  return {
    async deleted(environmentId, names) {
      const key = await place('environment', environmentId)
      const { secrets, ...rest } = await read<SeenEnvironment>(key, { secrets: {} })
      const rows = Object.entries(secrets).map(([name, row]) => [
        name,
        names.includes(name) ? { ...row, gone: true } : row,
      ])
      await write(key, { ...rest, secrets: Object.fromEntries(rows) })
    },
    async rekeyed(environmentId, bytes) {
      const key = await place('environment', environmentId)
      const before = await read<SeenEnvironment>(key, { secrets: {} })
      await write(key, { ...before, key: await fingerprintOf(bytes) })
    },
    async check(environments, layers) {
      const found: WentBack[] = []
      const changed: [key: string, value: unknown][] = []
      const gone: [label: string, names: string[]][] = []
      if (layers !== undefined) {
        const key = await place('layers', layers)
        const now = environments.map(({ environmentId, label }) => ({ environmentId, label }))
        const before = await read<typeof now>(key, [])
        const missing = before.filter((one) => !now.some((other) => other.environmentId === one.environmentId))
        for (const { environmentId, label: what } of missing) found.push({ kind: 'layer_missing', environmentId, what })
        if (JSON.stringify(before) !== JSON.stringify(now)) changed.push([key, now])
      }
      for (const environment of environments) {
        const key = await place('environment', environment.environmentId)
        const before = await read<SeenEnvironment>(key, { secrets: {} })
        const after = await compare(before, environment, found)
        gone.push([environment.label, markGone(after, environment.secrets)])
        if (JSON.stringify(before) !== JSON.stringify(after)) changed.push([key, after])
      }
      if (found.length > 0) onWentBack(new WentBackError(found))
      for (const [key, value] of changed) await write(key, value)
      for (const [label, names] of gone) if (names.length > 0) onGone(label, names)
    },
  }
}

const fingerprintOf = async (key: Bytes) => encodeBase64url(await hkdf(key, new Uint8Array(0), keyInfo, 16))

function refuse(error: WentBackError): never {
  throw error
}

/** What is to be remembered of an environment; what went back is added to `found`. */
async function compare(
  before: SeenEnvironment,
  { environmentId, label, key, secrets = [], newestVersion }: ShownEnvironment,
  found: WentBack[],
): Promise<SeenEnvironment> {
  // Without a prototype, because a secret may be called `__proto__`.
  const after: SeenEnvironment = { ...before, secrets: Object.assign(Object.create(null), before.secrets) }
  if (key) {
    after.key = await fingerprintOf(key)
    if (before.key !== undefined && before.key !== after.key) {
      found.push({ kind: 'key_changed', environmentId, what: label })
    }
  }
  for (const shown of secrets) {
    const known = Object.hasOwn(before.secrets, shown.name) ? before.secrets[shown.name] : undefined
    const hash = (await hexSha256(shown.ciphertext)).slice(0, hashCharacters)
    const kind = known && (await wentBack(known, shown, hash, newestVersion))
    if (kind) found.push({ kind, environmentId, what: shown.name })
    after.secrets[shown.name] = next(known, shown, hash)
  }
  return after
}

async function wentBack(
  known: SeenSecret,
  shown: ShownSecret,
  hash: string,
  newestVersion: NewestVersion | undefined,
): Promise<WentBack['kind'] | undefined> {
  const isSame = known.id === undefined || shown.id === undefined || known.id === shown.id
  if (isSame && known.version !== undefined && shown.version !== undefined && shown.version < known.version) {
    return 'version_went_back'
  }
  // Deleting takes the history along, so nobody can have restored it.
  if (known.gone && hash === known.hash) return 'value_came_back'
  if (hash === known.hash || !known.past.includes(hash)) return undefined
  // A restore replays a stored ciphertext as a new version. Then the history says so, for everyone to see.
  const newest = await newestVersion?.(shown.name).catch(() => undefined)
  const isRestored =
    newest !== undefined &&
    newest.restoredFromVersion !== null &&
    newest.ciphertext === shown.ciphertext &&
    newest.version > (known.version ?? 1)
  return isRestored ? undefined : 'value_came_back'
}

function next(known: SeenSecret | undefined, { id, version }: ShownSecret, hash: string): SeenSecret {
  const past = !known || known.hash === hash ? (known?.past ?? []) : [...known.past, known.hash]
  const row: SeenSecret = { hash, past: past.filter((one) => one !== hash).slice(-pastMax) }
  // A resolve shows neither; the secret may have been made anew since, but its number only counts with its id.
  const nextId = id ?? known?.id
  const nextVersion = version ?? known?.version
  if (nextId !== undefined) row.id = nextId
  if (nextVersion !== undefined) row.version = nextVersion
  return row
}

/** Names that were there and are not: marked, so that they are told of once. */
function markGone(after: SeenEnvironment, secrets: readonly ShownSecret[] | undefined): string[] {
  if (!secrets) return []
  const shown = new Set(secrets.map(({ name }) => name))
  const missing = Object.entries(after.secrets).filter(([name, row]) => !shown.has(name) && !row.gone)
  for (const [name, row] of missing) after.secrets[name] = { ...row, gone: true }
  return missing.map(([name]) => name).sort()
}
