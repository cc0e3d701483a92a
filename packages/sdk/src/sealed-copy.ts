import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { sha256 } from '@skerry/crypto/digest'
import { importAesKey, openGcm, sealGcm } from '@skerry/crypto/gcm'
import { hkdf } from '@skerry/crypto/hkdf'
import type { Cache } from './cache.ts'
import type { CopyProof } from './directory/memory.ts'
import type { ResolveQuery } from './resolve-body.ts'

/**
 * A resolve body as received, still ciphertext, with the time (ms since 1970) at which the server last confirmed it.
 */
export interface Copy {
  text: string
  etag: string | null
  fetchedAtMs: number
  /** The personal overrides as received, still encrypted. */
  overrides?: string
  overridesEtag?: string | null
  /** Set if the answer was verified against the signed directory. */
  proof?: CopyProof
}

/** One entry of a cache, with its key. A copy that cannot be read counts as missing. */
export interface SealedCopy {
  read(): Promise<Copy | undefined>
  write(copy: Copy): Promise<void>
  delete(): Promise<void>
}

/** If a label changes, clients only lose their stored copies. */
const keyLabel = 'skerry-lkg-cache-v1'
const policyLabel = 'skerry-policy-cache-v1'
const refusalLabel = 'skerry-lkg-refused-v1'
const fingerprintLabel = 'skerry-token-fp-v1'
const sealingInfo = 'skerry/lkg-cache/v1'

/**
 * The cache key of a copy: SHA-256, in hexadecimal, over everything that its content depends on. The token is included
 * as a fingerprint, so that the cache key reveals nothing about it.
 *
 * @param baseUrl the result of `parseBaseUrl`, without a slash at the end.
 * @param hasOverrides whether the copy also has personal overrides.
 * @example await cacheKey('https://skerry.example.com', token, { env: 'env_...', with: [] })
 */
export async function cacheKey(
  baseUrl: string,
  token: string,
  query: ResolveQuery,
  hasOverrides = false,
): Promise<string> {
  const fingerprint = await fingerprintOf(token)
  const lines = [keyLabel, baseUrl, fingerprint, query.env ?? '', query.branch ?? '', query.with.join(',')]
  if (hasOverrides) lines.push('overrides')
  return hexSha256(lines.join('\n'))
}

/**
 * The cache key of the note that the server does not know a token. A cache cannot list the copies of one token. So
 * every copy that is older than the note is invalid.
 *
 * @example await refusalKey('https://skerry.example.com', token)
 */
export async function refusalKey(baseUrl: string, token: string): Promise<string> {
  return hexSha256([refusalLabel, baseUrl, await fingerprintOf(token)].join('\n'))
}

/**
 * The cache key of the last good bundle of an agent.
 *
 * @example await policyKey('https://skerry.example.com', token, 'builder')
 */
export async function policyKey(baseUrl: string, token: string, agent: string): Promise<string> {
  return hexSha256([policyLabel, baseUrl, await fingerprintOf(token), agent].join('\n'))
}

const fingerprintOf = (token: string) => hexSha256(`${fingerprintLabel}\n${token}`)

/**
 * The copy of one resolve in a cache, encrypted with AES-256-GCM under a key that HKDF-SHA256 derives from the token.
 * The cache key is the AAD, so a copy that was moved or altered does not decrypt. Such a copy is deleted.
 *
 * @param token the whole token: without it, nobody can read the copy.
 * @param warn called when the cache itself fails. It gets fixed words and the error code. A cache failure stops no
 *   resolve.
 * @example
 * const key = await refusalKey('https://skerry.example.com', token)
 * const copy = sealedCopy(diskCache(), key, token, console.warn)
 */
export function sealedCopy(cache: Cache, key: string, token: string, warn: (message: string) => void): SealedCopy {
  const aad = encodeUtf8(key)
  const sealingKey = async () => importAesKey(await hkdf(encodeUtf8(token), new Uint8Array(0), sealingInfo, 32))
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      warn(warningOf(what, error))
    }
  }
  const forget = async () => void (await attempt('delete', () => cache.delete(key)))
  return {
    async read() {
      const text = await attempt('read', () => cache.read(key))
      if (text === undefined) return undefined
      try {
        const sealed = JSON.parse(text)
        const opened = await openGcm(
          await sealingKey(),
          decodeBase64url(sealed.iv),
          decodeBase64url(sealed.ciphertext),
          aad,
        )
        return parseCopy(decodeUtf8(opened))
      } catch {
        await forget()
      }
    },
    async write(copy) {
      const { iv, ciphertext } = await sealGcm(await sealingKey(), encodeUtf8(JSON.stringify(copy)), aad)
      const text = JSON.stringify({ version: 1, iv: encodeBase64url(iv), ciphertext: encodeBase64url(ciphertext) })
      await attempt('write', () => cache.write(key, text))
    },
    delete: forget,
  }
}

/**
 * Whether a copy may be used: strictly younger than the limit, and not from the future. After the clock is set back, a
 * copy from the future would otherwise be usable for too long.
 *
 * @example isUsable({ text: '{}', etag: null, fetchedAtMs: Date.now() }, 86_400, Date.now()) // true
 */
export function isUsable(copy: Copy, maxAgeSeconds: number, nowMs: number): boolean {
  return copy.fetchedAtMs <= nowMs && nowMs - copy.fetchedAtMs < maxAgeSeconds * 1000
}

/**
 * Hexadecimal SHA-256 of a text.
 *
 * @example await hexSha256('abc') // 'ba7816bf...'
 */
export async function hexSha256(text: string): Promise<string> {
  return Array.from(await sha256(encodeUtf8(text)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function parseCopy(json: string): Copy {
  const { text, etag, fetchedAtMs, overrides, overridesEtag, proof } = JSON.parse(json)
  if (typeof text !== 'string' || !(etag === null || typeof etag === 'string') || !Number.isFinite(fetchedAtMs)) {
    throw new TypeError('the text is not a cached copy')
  }
  if (overrides !== undefined && typeof overrides !== 'string') throw new TypeError('the text is not a cached copy')
  const own = { overrides, overridesEtag: typeof overridesEtag === 'string' ? overridesEtag : null }
  const proven = typeof proof === 'object' && proof !== null ? { proof } : {}
  return { text, etag, fetchedAtMs, ...(overrides === undefined ? {} : own), ...proven }
}

/** Builds a warning without the error's message, because a cache that the program supplies may put a key or a path into it. */
function warningOf(what: string, error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return `cache: ${what} failed${typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? `: ${code}` : ''}`
}
