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
 * The credentials with which a program reads secrets. Give either `token`, the text of a service token, or `bearer` and
 * `privateKey`. `bearer` is the text that the SDK sends in the header `Authorization`. `privateKey` is the private key
 * of the person or token to whom the bearer belongs. It can also be an object that asks another process to unwrap keys.
 * From a `token` in the default format, the SDK sends only a part to the server.
 */
export type Reader = { token: string } | { bearer: string; privateKey: KeyHolder }

export type SkerrySettings = Reader &
  Omit<ClientSettings, 'credential'> & {
    /** The id of the environment. Leave it out if the token is bound to an environment. */
    env?: string | undefined
    /** The slug or id of a branch of the environment. */
    branch?: string | undefined
    /**
     * For a group, names the environment of this group from which `resolve` takes the secrets. `{ shared: 'staging' }`
     * takes the secrets of the group `shared` from its environment `staging`. You can also write `['shared:staging']`.
     */
    with?: Readonly<Record<string, string>> | readonly string[] | undefined
    /**
     * The person whose personal overrides `resolve` uses: this person's own values of secrets. If you set it, also set
     * `env`, and the `bearer` and the `privateKey` of this person. Without this setting, `resolve` uses no overrides.
     */
    overrides?: { orgId: string; userId: string } | undefined
    /** If true, `resolve` replaces the text `${NAME}` in a value with the value of NAME. Default: true. */
    interpolate?: boolean | undefined
    /**
     * What `resolve` does if the references in a value form a cycle, or make the value too large. If true, `resolve`
     * leaves out this value, and `unexpanded` in the result lists the name of the secret. If false, `resolve` throws an
     * error. Default: false.
     */
    partial?: boolean | undefined
    /**
     * The names of the secrets to return. If one of these secrets does not exist, `resolve` throws an error. The values
     * of these secrets can also refer to secrets that are not in this list. Default: all secrets.
     */
    only?: readonly string[] | undefined
    /**
     * A cache for responses, for example `memoryCache()`. While it has a copy of the response, `resolve` uses this copy
     * and does not ask the server. Default: no cache.
     */
    reuse?: Cache | undefined
    /**
     * A cache that stores a copy of each valid response, for example `diskCache()`. `resolve` uses the copy if the
     * server cannot be reached. Default: no cache.
     */
    cache?: Cache | undefined
    /** The maximum age, in seconds, of a copy in `cache` that `resolve` may use. Default: 24 hours. */
    maxAgeSeconds?: number | undefined
    /** If true, `resolve` never asks the server, and uses only the copy in `cache`. */
    offline?: boolean | undefined
    /**
     * Remembers earlier responses, so that `resolve` notices a server that sends older values or another environment
     * than before. `createKnownState` makes it. Default: `resolve` remembers nothing.
     */
    knownState?: KnownState | undefined
    /**
     * With these settings, `resolve` checks every response against the signed directory of the organization. Set at
     * least a pin, or a memory of a directory that `resolve` has checked before. With neither, `resolve` does not make
     * this check. If the token contains a pin, `resolve` makes this check without these settings.
     */
    directory?: DirectorySettings | undefined
    /**
     * Called with a message if `resolve` cannot read or write `reuse` or `cache`. `resolve` then continues without the
     * copy. Without `directory.warn`, the function also gets the messages about layers that `resolve` leaves out. A
     * message never contains a value.
     */
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
  /**
   * The names, sorted, to which values refer, although no secret has this name. The text `${NAME}` stays in such a
   * value.
   */
  unresolved: string[]
  /**
   * With `partial`: the secrets that `resolve` left out, because it cannot replace the references in their values. The
   * keys of the map are the names of these secrets, and the values are the errors.
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
   * A text that changes if the response of the server changes. Give it to `watch`, so that `watch` knows which values
   * you already have. If only the part with the signed directory changes, the text stays the same.
   */
  revision: string
}

export interface Skerry {
  /**
   * Returns the secrets of the environment, its groups and its branch, decrypted. If several layers have a secret of
   * the same name, the value of the branch wins over the value of the environment. The value of the environment wins
   * over the values of the groups. Unless `interpolate` is false, `resolve` replaces references in the values.
   *
   * @throws UnavailableError, RefusedError, DecryptionError. SkerryError `malformed_answer`, or `not_found` if a name
   *   in `only` does not exist. CryptoError `malformed_token`, `reference_cycle`, `reference_too_large`. Only with
   *   `knownState`: RollbackError. Only with a directory: CryptoError `directory_…` or `malformed_pin`. Also
   *   `not_authentic` if the manifest of a branch is false, and `authentic_expired` if it has expired.
   */
  resolve(options?: { signal?: AbortSignal | undefined }): Promise<Resolved>
  /**
   * Returns the value of one secret. Each call of `get` calls `resolve`, so call `resolve` yourself if you need several
   * values.
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
 * Creates an object that reads the secrets of one environment. Its function `resolve` requests ciphertext from the
 * server, decrypts the values on this machine, merges the layers, and replaces references such as `${NAME}`.
 *
 * Each call of `resolve` asks the server, unless `reuse` has a copy of an earlier response. With `cache`, `resolve`
 * stores a copy of the last valid response, and uses this copy if the server cannot be reached. If the server refuses
 * the request, `resolve` deletes its copies in `reuse` and `cache`. If the error is `unauthorized`, `resolve` also
 * stops using the copies of other environments and branches that it stored in `cache` for this token.
 *
 * A program that cannot reach the server does not learn that its token was revoked. `resolve` then still returns the
 * stored values, until the copy is older than `maxAgeSeconds`.
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
