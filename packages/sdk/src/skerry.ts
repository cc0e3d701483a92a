import type { CryptoError } from '@skerry/crypto/errors'
import { mergeLayers, type Provenance } from '@skerry/crypto/layers'
import { expandEach } from '@skerry/crypto/references'
import type { KeyHolder } from '@skerry/crypto/wrap'
import { type AnyToken, parseAnyToken } from './any-token.ts'
import { parseBaseUrl } from './base-url.ts'
import type { Cache } from './cache.ts'
import { type Client, type ClientSettings, createClient } from './client.ts'
import type { DirectorySettings } from './directory/memory.ts'
import type { DirectoryReader } from './directory/reader.ts'
import { clientError, invalid, RefusedError, SkerryError, UnavailableError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import type { OverridesPlace } from './overrides.ts'
import { decryptLayers } from './resolve.ts'
import { type ParsedBody, parseResolveBody, type ResolveQuery, type Scope, toResolveQuery } from './resolve-body.ts'
import { decryptAndCheck } from './resolve-known-state.ts'
import { RollbackError } from './rollback.ts'
import { type Copy, cacheKey, hexSha256, isUsable, refusalKey, type SealedCopy, sealedCopy } from './sealed-copy.ts'
import { sleep } from './transport.ts'

/**
 * The credentials with which a program reads secrets: a service token, or a bearer (the text in the header
 * Authorization) and the private key that belongs to it. If the token has the default format, the SDK sends only a part
 * of the token to the server. The private key can be in another process, which unwraps keys for the SDK.
 */
export type Reader = { token: string } | { bearer: string; privateKey: KeyHolder }

export type SkerrySettings = Reader &
  Omit<ClientSettings, 'credential'> & {
    /** The id of the environment. Leave it out if the token is bound to an environment. */
    env?: string | undefined
    /** The slug or id of a branch of the environment. */
    branch?: string | undefined
    /**
     * Takes the secrets of a group from another environment of the group: `{ shared: 'staging' }` or
     * `['shared:staging']`.
     */
    with?: Readonly<Record<string, string>> | readonly string[] | undefined
    /**
     * `resolve` uses the personal overrides of this person in `env` and its branches. Also set `env`, `bearer` and
     * `privateKey`. The bearer and the private key must be those of this person. Without this setting, `resolve` uses
     * no overrides.
     */
    overrides?: { orgId: string; userId: string } | undefined
    /** If true, `resolve` replaces the text `${NAME}` in a value with the value of NAME. Default: true. */
    interpolate?: boolean | undefined
    /**
     * If true, `resolve` leaves out each value whose references form a cycle or make the value too large. `unexpanded`
     * lists the names of these secrets. If false, `resolve` throws an error for such a value. Default: false.
     */
    partial?: boolean | undefined
    /**
     * The names of the secrets to return. If one of them does not exist, `resolve` throws an error. References in the
     * values can also use secrets that are not in this list.
     */
    only?: readonly string[] | undefined
    /** A cache from which `resolve` answers without asking the server, for example `memoryCache()`. None by default. */
    reuse?: Cache | undefined
    /**
     * Stores a copy of each valid response. `resolve` uses the copy if the server cannot be reached. Example:
     * `diskCache()`. None by default.
     */
    cache?: Cache | undefined
    /** The maximum age, in seconds, of a copy in `cache` that `resolve` may use. Default: 24 hours. */
    maxAgeSeconds?: number | undefined
    /** If true, `resolve` never asks the server, and uses only the copy in `cache`. */
    offline?: boolean | undefined
    /**
     * Remembers earlier responses. `resolve` then notices a server that sends older values or another environment than
     * before. None by default.
     */
    knownState?: KnownState | undefined
    /**
     * Checks every response against the signed directory of the organization. For this check, `resolve` needs a pin, or
     * a memory of a directory that it has checked before. Without a pin or a memory, `resolve` does not make this
     * check. If the token contains a pin, you need no setting.
     */
    directory?: DirectorySettings | undefined
    /** Called if a cache fails. `resolve` then continues without the cache. The message never contains a value. */
    warn?: ((message: string) => void) | undefined
    /** A function that returns the present time, in milliseconds since 1970. Default: the clock of this machine. */
    now?: (() => number) | undefined
  }

/**
 * The result of `resolve`. `values` and `provenance` have no prototype, so that a secret can have the name `__proto__`.
 */
export interface Resolved {
  values: Record<string, string>
  /**
   * For each value, the layer (environment, group or branch) from which it comes. For a personal override, the field
   * shows the layer of the value that everyone else gets.
   */
  provenance: Record<string, Provenance>
  /** The names whose value is a personal override, sorted. */
  overridden: string[]
  /** Names to which values refer, but which no secret has, sorted. The text `${NAME}` stays in the value. */
  unresolved: string[]
  /**
   * With `partial`: the secrets that `resolve` left out, because it cannot replace the references in their values. The
   * map gives the error for each name.
   */
  unexpanded: ReadonlyMap<string, CryptoError>
  scope: Scope
  /** True if the result comes from the copy in `cache`. */
  stale: boolean
  /** The time at which the server last sent or confirmed this response: ISO 8601, UTC. */
  fetchedAt: string
  /** The seconds since `fetchedAt`. */
  ageSeconds: number
  /**
   * A text that changes if the response of the server changes. If only the proof from the signed directory changes, the
   * text stays the same.
   */
  revision: string
}

export interface Skerry {
  /**
   * Returns the secrets of the environment, its groups and its branch, decrypted. If two layers have a secret of the
   * same name, `resolve` returns the value of the later layer. It replaces references in the values, unless
   * `interpolate` is false.
   *
   * @throws UnavailableError, RefusedError, DecryptionError, RollbackError (with `knownState`), SkerryError
   *   `malformed_answer` or `not_found` (a name in `only` does not exist), CryptoError `malformed_token`,
   *   `reference_cycle`, `reference_too_large`. With a directory: CryptoError `directory_…`, `malformed_pin`,
   *   `not_authentic` and `authentic_expired` (the manifest of a branch is not valid).
   */
  resolve(options?: { signal?: AbortSignal | undefined }): Promise<Resolved>
  /**
   * Calls `resolve` and returns one value. If you need several values, call `resolve` once.
   *
   * @throws The errors of `resolve`; SkerryError `not_found`.
   */
  get(name: string, options?: { signal?: AbortSignal | undefined }): Promise<string>
}

const maxAgeDefaultSeconds = 86_400

/**
 * The pause before a possible rollback is checked again. A server that answers from memory shows a change at most 1 s
 * late.
 */
const settleMs = 1500

/** The input of one call: the settings of the reader, or a variant of them. */
interface Asked {
  settings: SkerrySettings
  signal: AbortSignal | undefined
}

/** Created once by the first resolve, after the token has been parsed. */
interface Session {
  client: Client
  privateKey: KeyHolder
  reuse: SealedCopy | undefined
  kept: SealedCopy | undefined
  /** Records when the server last rejected the credential as unknown. Older copies of any query are then invalid. */
  refusal: SealedCopy | undefined
  /** Set with `directory`, and for a token that carries a pin. */
  directory: DirectoryReader | undefined
}

/**
 * Creates an object that reads the secrets of one environment. The object requests ciphertext from the server, decrypts
 * and merges the values on this machine, and replaces references such as `${NAME}`.
 *
 * Each call of `resolve` asks the server, unless `reuse` has a copy. With `cache`, `resolve` stores the last valid
 * response, and uses this copy if the server cannot be reached. If the server refuses a request, `resolve` deletes the
 * copy of this request. After the error `unauthorized`, `resolve` no longer uses any copy in `cache` that it stored for
 * this token. If a token was revoked and the program cannot reach the server, `resolve` still returns the stored
 * values, for at most `maxAgeSeconds`.
 *
 * @throws SkerryError `invalid_request` if a setting is wrong.
 * @example
 * const skerry = createSkerry({ baseUrl: 'https://skerry.example.com', token })
 * const { values } = await skerry.resolve()
 */
export function createSkerry(settings: SkerrySettings): Skerry {
  const query = toResolveQuery(settings)
  overridesPlace(settings)
  const baseUrl = parseBaseUrl(settings.baseUrl, settings)
  const { now = Date.now, maxAgeSeconds = maxAgeDefaultSeconds } = settings
  let session: Promise<Session> | undefined
  let last: Copy | undefined

  /** Stores an answer only after it has decrypted. A refusal deletes the stored copies. */
  const resolveLive = async (current: Session, known: Copy | undefined, { settings, signal }: Asked) => {
    const { client, privateKey, reuse, kept, directory } = current
    try {
      const fetchAndOpen = async (etagged: Copy | undefined) => {
        const own = overridesPlace(settings)
        const fetchAs = async (known: Copy | undefined, asked: Asking | undefined): Promise<Copy> => {
          const isNewest = known !== undefined && (directory?.isNewest(known, asked) ?? true)
          const fetching = { known: isNewest ? known : undefined, asked, own, now, signal }
          return fetchCopy(client, query, fetching).catch((error) => {
            throw asked && directory ? directory.explain(error, asked) : error
          })
        }
        let asked = await directory?.ask()
        let copy = await fetchAs(etagged, asked)
        if (await directory?.mustAskAgain(copy.text, asked)) {
          asked = await directory?.ask()
          copy = await fetchAs(undefined, asked)
        }
        const opening = { settings, query, nowMs: now(), stale: false, client, directory, asked }
        return openCopy(copy, privateKey, opening)
      }
      const { copy, resolved } = await fetchAndOpen(known).catch(async (error) => {
        if (!(error instanceof RollbackError)) throw error
        // If there are several servers, one may lag behind for a moment. So the request is sent once more.
        await sleep(settleMs, signal)
        return fetchAndOpen(undefined)
      })
      last = copy
      await Promise.all([reuse?.write(copy), kept?.write(copy)])
      return resolved
    } catch (error) {
      if (error instanceof RefusedError) {
        last = undefined
        await Promise.all([reuse?.delete(), kept?.delete()])
        if (error.code === 'unauthorized') await current.refusal?.write({ text: '', etag: null, fetchedAtMs: now() })
      }
      throw error
    }
  }

  const resolveAs = async ({ settings, signal }: Asked): Promise<Resolved> => {
    session ??= openSession(settings, baseUrl, query)
    const current = await session
    const { privateKey, directory } = current
    const openStored = async (copy: Copy, stale: boolean) =>
      (await openCopy(copy, privateKey, { settings, query, nowMs: now(), stale, directory })).resolved
    const reused = settings.offline ? undefined : await proven(await current.reuse?.read(), directory)
    if (reused) return openStored(reused, false)

    const usable = await proven(await readUsable(current, maxAgeSeconds, now()), directory)
    try {
      if (settings.offline) throw clientError('offline')
      return await resolveLive(current, last ?? usable, { settings, signal })
    } catch (error) {
      // The age is checked again, because the copy may have expired during the attempts.
      if (!(error instanceof UnavailableError) || !usable || !isUsable(usable, maxAgeSeconds, now())) throw error
      return openStored(usable, true)
    }
  }

  const resolve: Skerry['resolve'] = ({ signal } = {}) => resolveAs({ settings, signal })

  /** Reads one value with `partial`, so that a bad reference in another value does not fail this one. */
  const get: Skerry['get'] = async (name, { signal } = {}) => {
    const { values, unexpanded } = await resolveAs({ settings: { ...settings, partial: true }, signal })
    const value = values[name]
    if (value === undefined) throw unexpanded.get(name) ?? new SkerryError('not_found', `there is no secret ${name}`)
    return value
  }
  return Object.freeze({ resolve, get })
}

async function readUsable({ kept, refusal }: Session, maxAgeSeconds: number, nowMs: number) {
  const copy = await kept?.read()
  if (!copy || !isUsable(copy, maxAgeSeconds, nowMs)) return undefined
  const refused = await refusal?.read()
  return refused && copy.fetchedAtMs <= refused.fetchedAtMs ? undefined : copy
}

/** Leaves out a copy that was stored before this client knew of a directory. */
const proven = async (copy: Copy | undefined, directory: DirectoryReader | undefined) =>
  copy && directory && !(await directory.isUsable(copy)) ? undefined : copy

/** The question about the directory that was sent with a request. */
type Asking = NonNullable<Awaited<ReturnType<DirectoryReader['ask']>>>

interface Opening {
  settings: SkerrySettings
  /** Set for a live answer only. It is compared with the known state. */
  client?: Client
  directory: DirectoryReader | undefined
  /** Set for a live answer that must have a proof. */
  asked?: Asking | undefined
  query: ResolveQuery
  nowMs: number
  stale: boolean
}

/** Decrypts a copy and builds the result. A stored copy is parsed and checked like a live answer. */
async function openCopy(received: Copy, privateKey: KeyHolder, opening: Opening) {
  const { settings, query, nowMs, stale } = opening
  const { body, holder, copy } = await prove(received, parseResolveBody(received.text, query), privateKey, opening)
  const merged = mergeLayers(await decrypt(body, holder, { ...opening, isSigned: copy.proof !== undefined }))
  const place = overridesPlace(settings)
  const knownState = opening.client && settings.knownState
  const overridden =
    place && copy.overrides !== undefined
      ? await (await loadOverrides()).applyOverrides(merged, copy.overrides, privateKey, { place, body, knownState })
      : []
  const { values: stored, provenance } = merged
  // The provenance lists every name. It is picked first, so that a missing name is reported as not found.
  const picked = pick(provenance, settings.only)
  const asStored = settings.interpolate === false
  const expanded = asStored ? { values: stored, unresolved: [], failed: new Map() } : expandEach(stored, settings.only)
  if (!settings.partial) for (const error of expanded.failed.values()) throw error
  const only = settings.only?.filter((name) => !expanded.failed.has(name))
  const resolved: Resolved = {
    values: pick(expanded.values, only),
    provenance: picked,
    overridden: overridden.filter((name) => Object.hasOwn(picked, name)),
    unresolved: expanded.unresolved,
    unexpanded: expanded.failed,
    scope: body.scope,
    stale,
    fetchedAt: new Date(copy.fetchedAtMs).toISOString(),
    ageSeconds: Math.max(0, nowMs - copy.fetchedAtMs) / 1000,
    revision: await revisionOf(copy, body),
  }
  return { copy, resolved }
}

/**
 * Computes the revision. It leaves out the chains of the signed directory, because they grow without a change of the
 * environment.
 */
async function revisionOf({ text, overrides = '' }: Copy, body: ParsedBody): Promise<string> {
  const { shown, ...rest } = body
  return hexSha256((shown === undefined ? text : JSON.stringify(rest)) + overrides)
}

/** Verifies an answer or a copy against the signed directory, if this client trusts one. */
async function prove(copy: Copy, body: ParsedBody, holder: KeyHolder, { directory, asked }: Opening) {
  // The server may answer that a copy has not changed. It is then verified as it was before.
  const stored = copy.proof
  if (!directory || !(asked || stored)) return { body, holder, copy }
  const proven = stored
    ? await directory.proveCopy(body, holder, stored)
    : await directory.proveAnswer(body, holder, asked!)
  return { ...proven, copy: { ...copy, proof: proven.proof } }
}

async function decrypt(
  body: ParsedBody,
  privateKey: KeyHolder,
  { settings, query, client, isSigned }: Opening & { isSigned: boolean },
) {
  const { knownState } = settings
  if (!knownState || !client) return decryptLayers(body, privateKey)
  return decryptAndCheck(body, privateKey, { knownState, client, query, isToken: 'token' in settings, isSigned })
}

async function openSession(settings: SkerrySettings, baseUrl: string, query: ResolveQuery): Promise<Session> {
  const parsed = 'token' in settings ? await parseAnyToken(settings.token) : undefined
  const { bearer, privateKey } = parsed ?? (settings as Exclude<Reader, { token: string }>)
  const token = 'token' in settings ? settings.token : settings.bearer
  const [key, refusal] = await Promise.all([
    cacheKey(baseUrl, token, query, settings.overrides !== undefined),
    refusalKey(baseUrl, token),
  ])
  const place = (cache: Cache | undefined, at: string) =>
    cache && sealedCopy(cache, at, token, settings.warn ?? (() => {}))
  const client = createClient({ ...settings, credential: { bearer } })
  return {
    client,
    privateKey,
    directory: await openDirectory(settings, { query, client, parsed }),
    reuse: place(settings.reuse, key),
    kept: place(settings.cache, key),
    refusal: place(settings.cache, refusal),
  }
}

interface Connected {
  query: ResolveQuery
  client: Client
  parsed: AnyToken | undefined
}

/** Nothing of the directory is loaded for a client that has neither a pin nor memory. */
async function openDirectory(settings: SkerrySettings, { query, client, parsed }: Connected) {
  const { directory, now = Date.now, warn = () => {} } = settings
  if (!parsed?.pin && !directory?.memory && !directory?.pins?.length) return undefined
  const { openDirectoryReader, withToken } = await import('./directory/reader.ts')
  const token = parsed ? { id: parsed.tokenId, format: parsed.format } : null
  return openDirectoryReader({ settings: withToken(directory, parsed), query, client, token, now, warn })
}

/** Returns the environment and the person whose overrides are used, if any. */
function overridesPlace(settings: SkerrySettings): OverridesPlace | undefined {
  const { overrides, env } = settings
  if (!overrides) return undefined
  if (env === undefined || 'token' in settings) throw invalid('overrides: need env, and the bearer of a person')
  return { ...overrides, envId: env }
}

/** Only a person has overrides, so a program with a token does not load this. */
const loadOverrides = () => import('./resolve-overrides.ts')

interface Fetching {
  known: Copy | undefined
  asked: Asking | undefined
  own: OverridesPlace | undefined
  now: () => number
  signal: AbortSignal | undefined
}

/**
 * Fetches the answer, with the ETag of the known copy, and the personal overrides at the same time. After a 304 that
 * copy counts as fetched now.
 */
async function fetchCopy(client: Client, query: ResolveQuery, fetching: Fetching): Promise<Copy> {
  const { known, asked, own, now, signal } = fetching
  const { with: groups, ...named } = query
  const rest = { ...named, ...asked?.query }
  const input = { query: groups.length === 0 ? rest : { ...rest, with: groups } }
  const options = { etag: known?.etag ?? undefined, ...(signal ? { signal } : {}) }
  const pending = own && loadOverrides().then(({ fetchOverrides }) => fetchOverrides(client, own, known, signal))
  // If both are refused, the refusal of the answer says more.
  pending?.catch(() => {})
  const received = await client.request('resolve', 'get', input, options)
  const added = (await pending) ?? {}
  if (received.status === 304) return { ...known!, ...added, fetchedAtMs: now() }
  return { text: received.text, etag: received.etag, fetchedAtMs: now(), ...added }
}

function pick<T>(all: Record<string, T>, only: readonly string[] | undefined): Record<string, T> {
  if (only === undefined) return all
  const picked: Record<string, T> = Object.create(null)
  for (const name of only) {
    const value = all[name]
    if (value === undefined) throw new SkerryError('not_found', `there is no secret ${name}`)
    picked[name] = value
  }
  return picked
}
