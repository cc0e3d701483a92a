import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import { fail } from '../http/errors.ts'

const algorithms = ['RS256', 'ES256', 'EdDSA']
const discoveryTimeoutMs = 5000

/** Verifies session tokens of people. */
export interface Oidc {
  issuer: string
  verify(jwt: string): Promise<JWTPayload>
}

/**
 * An external OpenID Connect issuer: discovery on first use, keys cached and fetched anew when an unknown key id shows up.
 * `iss`, `aud`, `exp` and `nbf` are checked by jose; `alg` must be one of three, so `none` and HMAC are refused.
 */
export function openOidc(
  settings: { issuer: string; audience: string },
  now: () => Date,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Oidc {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined
  const discovered = () => {
    keys ??= discover(settings.issuer, fetch).catch((error) => {
      keys = undefined
      throw error
    })
    return keys
  }
  return {
    issuer: settings.issuer,
    async verify(jwt) {
      const keySet = await discovered()
      try {
        const { payload } = await jwtVerify(jwt, keySet, {
          issuer: settings.issuer,
          audience: settings.audience,
          algorithms,
          requiredClaims: ['sub', 'exp'],
          currentDate: now(),
        })
        return payload
      } catch (error) {
        // An issuer that does not answer is our failure, not the caller's.
        if (error instanceof errors.JWKSTimeout) throw error
        if (error instanceof errors.JOSEError) throw fail('unauthorized', 'session token refused')
        throw error
      }
    },
  }
}

async function discover(issuer: string, fetch: typeof globalThis.fetch) {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeoutMs), redirect: 'error' })
  if (!response.ok) throw new Error(`discovery answered ${response.status}`)
  const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown }
  if (metadata.issuer !== issuer || typeof metadata.jwks_uri !== 'string')
    throw new Error('discovery names another issuer, or no keys')
  return createRemoteJWKSet(new URL(metadata.jwks_uri), { [customFetch]: fetch })
}
