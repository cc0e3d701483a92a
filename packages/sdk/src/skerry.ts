import type { CryptoError } from '@skerry/crypto/errors'
import { mergeLayers, type Provenance } from '@skerry/crypto/layers'
import { expandEach } from '@skerry/crypto/references'
import { parseToken } from '@skerry/crypto/token'
import type { KeyHolder } from '@skerry/crypto/wrap'
import { parseBaseUrl } from './base-url.ts'
import type { Cache } from './cache.ts'
import { type Client, type ClientSettings, createClient } from './client.ts'
import { clientError, RefusedError, SkerryError, UnavailableError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import { decryptLayers } from './resolve.ts'
import { parseResolveBody, type ResolveBody, type ResolveQuery, type Scope, toResolveQuery } from './resolve-body.ts'
import { decryptAndCheck } from './resolve-known-state.ts'
import { RollbackError } from './rollback.ts'
import { type Copy, cacheKey, hexSha256, isUsable, refusalKey, type SealedCopy, sealedCopy } from './sealed-copy.ts'
import { sleep } from './transport.ts'

/**
 * Who reads: a service token, of which the key part stays here; or a bearer and the private key that goes with it, which
 * may be kept elsewhere (an agent) and only open what was wrapped to it.
 */
export type Reader = { token: string } | { bearer: string; privateKey: KeyHolder }

export type SkerrySettings = Reader &
  Omit<ClientSettings, 'credential'> & {
    /** Environment id. A token that is bound to an environment needs none. */
    env?: string | undefined
    /** Slug or id of a branch of that environment. */
    branch?: string | undefined
    /** Groups at another environment slug: `{ shared: 'staging' }` or `['shared:staging']`. */
    with?: Readonly<Record<string, string>> | readonly string[] | undefined
    /** Whether `${NAME}` is expanded; true unless said. */
    interpolate?: boolean | undefined
    /**
     * Whether values that cannot be expanded, because of a cycle or their size, are left out and named in `unexpanded`.
     * Unless true, one of them refuses the whole.
     */
    partial?: boolean | undefined
    /** The names to hand out. One that is not there refuses the whole. References may still name any other. */
    only?: readonly string[] | undefined
    /** Asked before the server, for example `memoryCache()`. None unless given. */
    reuse?: Cache | undefined
    /** Last-known-good copies for when the server is unavailable, for example `diskCache()`. None unless given. */
    cache?: Cache | undefined
    /** A last-known-good copy stands in while it is strictly younger; 24 h unless given. */
    maxAgeSeconds?: number | undefined
    /** Never contacts the server: only a last-known-good copy answers. */
    offline?: boolean | undefined
    /** What this client has seen before, to notice when the server goes back on it. None unless given. */
    knownState?: KnownState | undefined
    /** Told when a cache fails, which stops no resolve. Never holds a value. */
    warn?: ((message: string) => void) | undefined
    /** Milliseconds since 1970. */
    now?: (() => number) | undefined
  }

/** What a program needs to start. The records have no prototype, so that a secret may be called `__proto__`. */
export interface Resolved {
  values: Record<string, string>
  provenance: Record<string, Provenance>
  /** Names that values refer to and that are not there; sorted. Their references stay as written. */
  unresolved: string[]
  /** With `partial`: the names whose references cannot be expanded, with the reason. They have no value. */
  unexpanded: ReadonlyMap<string, CryptoError>
  scope: Scope
  /** True when a last-known-good copy stood in. */
  stale: boolean
  /** When the server last stood by this answer: ISO 8601, UTC. */
  fetchedAt: string
  ageSeconds: number
  /** Changes when anything in the server's answer does. */
  revision: string
}

export interface Skerry {
  /**
   * Everything, merged and expanded.
   *
   * @throws UnavailableError, RefusedError, DecryptionError, RollbackError (with `knownState`), SkerryError `malformed_answer` or `not_found` (of `only`),
   *   CryptoError `malformed_token`, `reference_cycle`, `reference_too_large`.
   */
  resolve(options?: { signal?: AbortSignal | undefined }): Promise<Resolved>
  /**
   * One value, with a resolve of its own: for more than one, resolve once.
   *
   * @throws as `resolve`; SkerryError `not_found`.
   */
  get(name: string, options?: { signal?: AbortSignal | undefined }): Promise<string>
}

const maxAgeDefaultSeconds = 86_400

/** A server that answers from memory shows a change at most a second late. */
const settleMs = 1500

/** One call: with the settings, or with some of them changed. */
interface Asked {
  settings: SkerrySettings
  signal: AbortSignal | undefined
}

/** What a resolve works with, once the token has been read. */
interface Session {
  client: Client
  privateKey: KeyHolder
  reuse: SealedCopy | undefined
  kept: SealedCopy | undefined
  /** When the server last said that it does not know the credential; what was kept before is void, of any query. */
  refusal: SealedCopy | undefined
}

/**
 * Reads secrets: asks the server for ciphertext, decrypts and merges it here, and expands references.
 *
 * The server is asked on every resolve. With a `cache`, the last good answer is kept and stands in while the server is
 * unavailable; a refused resolve deletes it, and `unauthorized` voids those of the token's other queries. A revoked
 * token therefore reads on for at most `maxAgeSeconds`, and only where the server cannot be reached.
 *
 * @throws SkerryError `invalid_request` for settings that cannot work.
 * @example
 * const skerry = createSkerry({ baseUrl: 'https://skerry.example.com', token })
 * const { values } = await skerry.resolve()
 */
export function createSkerry(settings: SkerrySettings): Skerry {
  const query = toResolveQuery(settings)
  const baseUrl = parseBaseUrl(settings.baseUrl, settings)
  const { now = Date.now, maxAgeSeconds = maxAgeDefaultSeconds } = settings
  let session: Promise<Session> | undefined
  let last: Copy | undefined

  /** Nothing is kept before it has decrypted, and a refusal leaves nothing behind. */
  const resolveLive = async (current: Session, known: Copy | undefined, { settings, signal }: Asked) => {
    const { client, privateKey, reuse, kept } = current
    try {
      const fetchAndOpen = async (etagged: Copy | undefined) => {
        const copy = await fetchCopy(client, query, etagged, now, signal)
        const opening = { settings, query, nowMs: now(), stale: false, client }
        return { copy, resolved: await openCopy(copy, privateKey, opening) }
      }
      const { copy, resolved } = await fetchAndOpen(known).catch(async (error) => {
        if (!(error instanceof RollbackError)) throw error
        // Of several servers, one may lag behind for a moment.
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
    const { privateKey } = current
    const reused = settings.offline ? undefined : await current.reuse?.read()
    if (reused) return openCopy(reused, privateKey, { settings, query, nowMs: now(), stale: false })

    const usable = await readUsable(current, maxAgeSeconds, now())
    try {
      if (settings.offline) throw clientError('offline')
      return await resolveLive(current, last ?? usable, { settings, signal })
    } catch (error) {
      // Age is measured anew: the attempts may have taken longer than the copy had left.
      if (!(error instanceof UnavailableError) || !usable || !isUsable(usable, maxAgeSeconds, now())) throw error
      return openCopy(usable, privateKey, { settings, query, nowMs: now(), stale: true })
    }
  }

  const resolve: Skerry['resolve'] = ({ signal } = {}) => resolveAs({ settings, signal })

  /** What is wrong with other values is no concern of this one. */
  const get: Skerry['get'] = async (name, { signal } = {}) => {
    const { values, unexpanded } = await resolveAs({ settings: { ...settings, partial: true }, signal })
    const value = values[name]
    if (value === undefined) throw unexpanded.get(name) ?? new SkerryError('not_found', `no secret ${name}`)
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

interface Opening {
  settings: SkerrySettings
  /** For a live answer, which is compared with what was seen before. */
  client?: Client
  query: ResolveQuery
  nowMs: number
  stale: boolean
}

/** Ciphertext -> what the program asked for. The same checks for a kept copy as for an answer. */
async function openCopy(copy: Copy, privateKey: KeyHolder, opening: Opening): Promise<Resolved> {
  const { settings, query, nowMs, stale } = opening
  const body = parseResolveBody(copy.text, query)
  const { values: stored, provenance } = mergeLayers(await decrypt(body, privateKey, opening))
  // The provenance tells of all names: it is picked first, so that a name that is not there is refused as such.
  const picked = pick(provenance, settings.only)
  const asStored = settings.interpolate === false
  const expanded = asStored ? { values: stored, unresolved: [], failed: new Map() } : expandEach(stored, settings.only)
  if (!settings.partial) for (const error of expanded.failed.values()) throw error
  const only = settings.only?.filter((name) => !expanded.failed.has(name))
  return {
    values: pick(expanded.values, only),
    provenance: picked,
    unresolved: expanded.unresolved,
    unexpanded: expanded.failed,
    scope: body.scope,
    stale,
    fetchedAt: new Date(copy.fetchedAtMs).toISOString(),
    ageSeconds: Math.max(0, nowMs - copy.fetchedAtMs) / 1000,
    revision: await hexSha256(copy.text),
  }
}

async function decrypt(body: ResolveBody, privateKey: KeyHolder, { settings, query, client }: Opening) {
  const { knownState } = settings
  if (!knownState || !client) return decryptLayers(body, privateKey)
  return decryptAndCheck(body, privateKey, { knownState, client, query, isToken: 'token' in settings })
}

async function openSession(settings: SkerrySettings, baseUrl: string, query: ResolveQuery): Promise<Session> {
  const { bearer, privateKey } = 'token' in settings ? await parseToken(settings.token) : settings
  const token = 'token' in settings ? settings.token : settings.bearer
  const [key, refusal] = await Promise.all([cacheKey(baseUrl, token, query), refusalKey(baseUrl, token)])
  const place = (cache: Cache | undefined, at: string) =>
    cache && sealedCopy(cache, at, token, settings.warn ?? (() => {}))
  return {
    client: createClient({ ...settings, credential: { bearer } }),
    privateKey,
    reuse: place(settings.reuse, key),
    kept: place(settings.cache, key),
    refusal: place(settings.cache, refusal),
  }
}

/** Asks with the ETag of what is known; a 304 says that it still holds, as of now. */
async function fetchCopy(
  client: Client,
  query: ResolveQuery,
  known: Copy | undefined,
  now: () => number,
  signal: AbortSignal | undefined,
): Promise<Copy> {
  const { with: groups, ...rest } = query
  const input = { query: groups.length === 0 ? rest : { ...rest, with: groups } }
  const options = { etag: known?.etag ?? undefined, ...(signal ? { signal } : {}) }
  const received = await client.request('resolve', 'get', input, options)
  if (received.status === 304) return { ...known!, fetchedAtMs: now() }
  return { text: received.text, etag: received.etag, fetchedAtMs: now() }
}

function pick<T>(all: Record<string, T>, only: readonly string[] | undefined): Record<string, T> {
  if (only === undefined) return all
  const picked: Record<string, T> = Object.create(null)
  for (const name of only) {
    const value = all[name]
    if (value === undefined) throw new SkerryError('not_found', `no secret ${name}`)
    picked[name] = value
  }
  return picked
}
