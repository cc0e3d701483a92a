import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { checkNoTransaction } from '../db/transaction-guard.ts'
import { fail, redactForLog, ServiceError } from '../kernel/errors.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const discoveryTimeoutMs = 5000

/** Verifies session tokens of people. */
export interface Oidc {
  issuer: string
  verify(jwt: string): Promise<JWTPayload>
}

/**
 * Opens an external OpenID Connect issuer. Discovery runs at the first use. Keys are cached, and fetched again for an
 * unknown key id. jose checks `iss`, `aud`, `exp` and `nbf`. `alg` must be one of three algorithms, so `none` and HMAC
 * are refused.
 */
export function openOidc(
  settings: { issuer: string; audience: string },
  now: () => Date,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Oidc {
  let keys: Promise<JWTVerifyGetKey> | undefined
  const discovered = () => {
    keys ??= discover(settings.issuer, fetch).catch((error) => {
      keys = undefined
      throw new IssuerUnavailable('discovery', error)
    })
    return keys
  }
  return {
    issuer: settings.issuer,
    async verify(jwt) {
      checkNoTransaction()
      const getKey = await discovered()
      try {
        return await verified(jwt, getKey, {
          issuer: settings.issuer,
          audience: settings.audience,
          algorithms,
          requiredClaims: ['sub', 'exp'],
          currentDate: now(),
        })
      } catch (error) {
        if (error instanceof errors.JOSEError) throw fail('unauthorized', 'session token refused')
        throw error
      }
    },
  }
}

/**
 * The caller is not the cause. A 401 would end a session that may be valid, so the answer is 500, and the log has the
 * reason.
 */
class IssuerUnavailable extends ServiceError {
  override readonly name = 'IssuerUnavailable'

  constructor(code: 'discovery' | 'keys', cause: unknown) {
    super(`the identity provider gives no ${code}: ${causeTextOf(cause)}`, { code, cause })
  }
}

/** The message of a SyntaxError quotes the answer, so it is not used. The reason of a failed fetch is in its cause. */
function causeTextOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error instanceof SyntaxError) return 'its answer is not JSON'
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return redactForLog(typeof code === 'string' ? `${error.message} (${code})` : error.message, [])
}

/** Verifies a token. A token without a key id is tried with every key of its algorithm. */
async function verified(jwt: string, getKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(jwt, getKey, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const result = await jwtVerify(jwt, key, options).catch((problem: unknown) => {
        if (!(problem instanceof errors.JWSSignatureVerificationFailed)) throw problem
      })
      if (result) return result.payload
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

async function discover(issuer: string, fetch: typeof globalThis.fetch): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeoutMs), redirect: 'error' })
  if (!response.ok) throw new Error(`discovery answered ${response.status}`)
  const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown }
  if (metadata.issuer !== issuer || typeof metadata.jwks_uri !== 'string')
    throw new Error('discovery names another issuer, or no keys')
  const keySet = createRemoteJWKSet(new URL(metadata.jwks_uri), { [customFetch]: fetch })
  return async (header, token) => {
    try {
      return await keySet(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error
      throw new IssuerUnavailable('keys', error)
    }
  }
}
