import type { JWTPayload } from 'jose'
import type { Configuration } from 'openid-client'
import type { Config } from '../../config.ts'
import { checkNoTransaction } from '../../db/transaction-guard.ts'
import { redactForLog, ServiceError } from '../../kernel/errors.ts'

type Settings = NonNullable<Config['oidc']>

export interface Asked {
  /** The URL of the issuer’s own page. */
  url: URL
  state: string
  nonce: string
  codeVerifier: string
}

/** The names that issuers use for a sign-in with several factors, if they have a name for it. */
const severalFactors = ['phrh', 'phr', 'mfa', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor']

/** Talks to the external issuer for browsers. It uses openid-client, which is loaded at the first sign-in. */
export function openExternalClient(settings: Settings) {
  let configured: Promise<Configuration> | undefined
  const configuration = () => {
    configured ??= discover(settings).catch((error) => {
      configured = undefined
      throw explain(error, settings)
    })
    return configured
  }
  return {
    async ask(redirectUri: string, stepUp: boolean): Promise<Asked> {
      checkNoTransaction()
      const oidc = await import('openid-client')
      const config = await configuration()
      const codeVerifier = oidc.randomPKCECodeVerifier()
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()]
      const known = config.serverMetadata().acr_values_supported ?? []
      const acr = severalFactors.filter((name) => known.includes(name)).join(' ')
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(stepUp ? { prompt: 'login', max_age: '0', ...(acr ? { acr_values: acr } : {}) } : {}),
      })
      return { url, state, nonce, codeVerifier }
    },
    /**
     * Returns the claims of the person who came back, from the ID token. The e-mail address may be in userinfo alone.
     */
    async redeem(url: URL, begun: Omit<Asked, 'url'>): Promise<JWTPayload> {
      checkNoTransaction()
      const oidc = await import('openid-client')
      const config = await configuration()
      const grant = oidc.authorizationCodeGrant(config, url, {
        pkceCodeVerifier: begun.codeVerifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: true,
      })
      const tokens = await grant.catch((error) => {
        throw explain(error, settings)
      })
      const claims = tokens.claims() as JWTPayload
      if (claims.email !== undefined || !config.serverMetadata().userinfo_endpoint) return claims
      const info = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub as string).catch((error) => {
        throw explain(error, settings)
      })
      return { ...info, ...claims } as JWTPayload
    },
  }
}

/** The fields of an error of openid-client that help the operator. */
interface Refused {
  error?: unknown
  error_description?: unknown
  status?: unknown
  code?: unknown
  message?: unknown
  cause?: unknown
}

/** Says why signing in failed: `error` and `error_description` of the identity provider, or what was wrong with its answer. */
function explain(error: unknown, { clientSecret }: Settings): ServiceError {
  const { error: refusal, error_description: description, status, code, message, cause } = (error ?? {}) as Refused
  const { message: deeper, code: deeperCode } = (cause ?? {}) as Refused
  const told =
    refusal === undefined
      ? ['the sign-in at the identity provider failed', message, deeper, deeperCode]
      : ['the identity provider refused', refusal, description, status]
  const text = told.filter((part) => part !== undefined && part !== '').join(': ')
  const reason = redactForLog(text, clientSecret === null ? [] : [clientSecret])
  return new ServiceError(reason, { code: typeof code === 'string' ? code : undefined, cause: error })
}

async function discover({ issuer, clientId, clientSecret }: Settings): Promise<Configuration> {
  const oidc = await import('openid-client')
  const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret)
  // The signature of the ID token is checked although it comes straight from the issuer. Plain HTTP is allowed for an
  // issuer beside this server, and such a connection proves nothing.
  const execute = [oidc.enableNonRepudiationChecks]
  if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests)
  return oidc.discovery(new URL(issuer), clientId, undefined, authentication, { execute, timeout: 5 })
}
