import { type Bytes, encodeBase64url } from '@skerry/crypto/base64url'
import { hkdf } from '@skerry/crypto/hkdf'
import type { Rollback } from './rollback.ts'
import { hexSha256 } from './sealed-copy.ts'

// Defines what is remembered, and compares answers with it. It stores names, and fingerprints of keys and ciphertexts,
// but no values.

/** A secret in a response of the server. Set `id` and `version` if the response has them. */
export interface ShownSecret {
  name: string
  ciphertext: string
  id?: string
  version?: number
}

/**
 * A function of your program that returns the newest version of a secret from the history of this secret. `check` calls
 * the function if a response contains a ciphertext that a newer one had replaced. If the history shows that somebody
 * restored this ciphertext, `check` accepts it.
 */
type NewestVersion = (
  name: string,
) => Promise<{ version: number; ciphertext: string; restoredFromVersion: number | null } | undefined>

/** An environment in a response of the server. */
export interface ShownEnvironment {
  environmentId: string
  /** The name in messages for people, for example `shop/production`, `shop/production@pr-7` or `shared:production`. */
  label: string
  /** True if this is a branch. When `check` compares the layers of a query, it leaves out branches. Default: false. */
  isBranch?: boolean
  /** The key of the environment, 32 bytes. The known state stores only a fingerprint of the key. */
  key?: Bytes
  /**
   * True if you have verified that the signed directory contains this key. `check` then does not report that the key
   * has changed. Default: false.
   */
  isSigned?: boolean
  /** All secrets of the environment. If you leave this field out, `check` reports no secret as missing. */
  secrets?: readonly ShownSecret[]
  newestVersion?: NewestVersion
}

interface KnownSecret {
  hash: string
  /** Hashes of ciphertexts that were replaced, oldest first. */
  past: string[]
  id?: string
  version?: number
  /** Set when the secret no longer exists. `here`: this client deleted it. */
  gone?: true | 'here'
}

export interface KnownEnvironment {
  key?: string
  secrets: Record<string, KnownSecret>
  /** Names that this client has written in this environment. */
  written?: string[]
}

/** The layers of a query without the branch, lowest precedence first, and the layer that each secret last came from. */
export interface KnownLayers {
  layers: { environmentId: string; label: string }[]
  owners: Record<string, string>
}

const pastMax = 100
const hashCharacters = 22
/** If this label changes, every environment's key looks new once. */
const keyInfo = 'skerry/environment-key-fingerprint/v1'

export const fingerprintOf = async (key: Bytes) => encodeBase64url(await hkdf(key, new Uint8Array(0), keyInfo, 16))

/** Copies a record without a prototype, because a secret may be called `__proto__`. */
export const plain = <T>(record: Record<string, T>): Record<string, T> => Object.assign(Object.create(null), record)

/** Returns the state of an environment to remember, and adds rollbacks to `found`. */
export async function compareEnvironment(
  before: KnownEnvironment,
  { environmentId, label, key, isSigned = false, secrets = [], newestVersion }: ShownEnvironment,
  found: Rollback[],
): Promise<KnownEnvironment> {
  const after: KnownEnvironment = { ...before, secrets: plain(before.secrets) }
  if (key) {
    after.key = await fingerprintOf(key)
    if (!isSigned && before.key !== undefined && before.key !== after.key) {
      found.push({ kind: 'key_changed', environmentId, what: label })
    }
  }
  for (const shown of secrets) {
    const known = Object.hasOwn(before.secrets, shown.name) ? before.secrets[shown.name] : undefined
    const hash = (await hexSha256(shown.ciphertext)).slice(0, hashCharacters)
    const kind = known && (await rolledBack(known, shown, hash, newestVersion))
    if (kind) found.push({ kind, environmentId, what: shown.name })
    after.secrets[shown.name] = next(known, shown, hash)
  }
  return after
}

async function rolledBack(
  known: KnownSecret,
  shown: ShownSecret,
  hash: string,
  newestVersion: NewestVersion | undefined,
): Promise<Rollback['kind'] | undefined> {
  const isSame = known.id === undefined || shown.id === undefined || known.id === shown.id
  if (isSame && known.version !== undefined && shown.version !== undefined && shown.version < known.version) {
    return 'version_went_back'
  }
  const isBack = hash === known.hash ? known.gone : known.past.includes(hash)
  if (!isBack) return undefined
  // A restore writes a stored ciphertext as a new version. The history then shows the restore to everyone. A deleted secret
  // comes back with its history.
  const newest = await newestVersion?.(shown.name).catch(() => undefined)
  const isRestored =
    newest !== undefined &&
    newest.restoredFromVersion !== null &&
    newest.ciphertext === shown.ciphertext &&
    newest.version > (known.version ?? 1)
  return isRestored ? undefined : 'value_came_back'
}

function next(known: KnownSecret | undefined, { id, version }: ShownSecret, hash: string): KnownSecret {
  const past = !known || known.hash === hash ? (known?.past ?? []) : [...known.past, known.hash]
  const row: KnownSecret = { hash, past: past.filter((one) => one !== hash).slice(-pastMax) }
  // A resolve shows no id and no version, so the known ones are kept. The secret may have been recreated since, but
  // versions of different ids are not compared.
  const nextId = id ?? known?.id
  const nextVersion = version ?? known?.version
  if (nextId !== undefined) row.id = nextId
  if (nextVersion !== undefined) row.version = nextVersion
  return row
}

/** Returns the names that no longer exist and marks them, so that each is reported once. */
export function markGone(after: KnownEnvironment, secrets: readonly ShownSecret[] | undefined): string[] {
  if (!secrets) return []
  const shown = new Set(secrets.map(({ name }) => name))
  const missing = Object.entries(after.secrets).filter(([name, row]) => !shown.has(name) && !row.gone)
  for (const [name, row] of missing) after.secrets[name] = { ...row, gone: true }
  return missing.map(([name]) => name).sort()
}

/**
 * Returns the layers of a query to remember. Missing or new layers and moved secrets are added to `found`.
 *
 * @param known the remembered state of an environment. A change that this client made itself is not reported.
 */
export function compareLayers(
  before: KnownLayers | undefined,
  shown: readonly ShownEnvironment[],
  known: (environmentId: string) => KnownEnvironment | undefined,
  found: Rollback[],
): KnownLayers {
  const layers = shown.map(({ environmentId, label }) => ({ environmentId, label }))
  const labels = new Map(layers.map(({ environmentId, label }) => [environmentId, label]))
  const owners = plain(before?.owners ?? {})
  if (before) {
    const had = new Set(before.layers.map(({ environmentId }) => environmentId))
    const missing = before.layers.filter(({ environmentId }) => !labels.has(environmentId))
    const added = layers.filter(({ environmentId }) => !had.has(environmentId))
    for (const { environmentId, label: what } of missing) found.push({ kind: 'layer_missing', environmentId, what })
    for (const { environmentId, label: what } of added) found.push({ kind: 'layer_added', environmentId, what })
  }
  const current = new Map(shown.flatMap((one) => (one.secrets ?? []).map(({ name }) => [name, one.environmentId])))
  for (const [what, environmentId] of current) {
    const previous = owners[what]
    owners[what] = environmentId
    // If the former layer is missing, `layer_missing` was already reported.
    const was = previous === undefined || previous === environmentId ? undefined : labels.get(previous)
    if (was === undefined) continue
    const isOwn =
      known(environmentId)?.written?.includes(what) === true || secretOf(known(previous!), what)?.gone === 'here'
    if (!isOwn) found.push({ kind: 'name_moved', environmentId, what, was, now: labels.get(environmentId)! })
  }
  return { layers, owners }
}

const secretOf = (environment: KnownEnvironment | undefined, name: string) =>
  environment && Object.hasOwn(environment.secrets, name) ? environment.secrets[name] : undefined
