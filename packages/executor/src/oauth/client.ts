import { isLoopback } from '@skerry/contract/loopback'
import { ConfigError } from '@skerry/proxy/config/read'
import type { Configuration, CustomFetch, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import type { Config, OAuth2 } from '../config/config.ts'
import { type Account, accountOf } from './id-token.ts'
import { idTokenMember, readTokenAnswer } from './token-answer.ts'

/** The content of the slot `oauth2`, as JSON. Times are in ISO 8601. */
export interface Tokens {
  accessToken: string
  refreshToken: string | null
  /** Null if the provider does not say. */
  expiresAt: string | null
  refreshExpiresAt: string | null
}

/** A sign-in that has begun. Its answer is checked against this. */
export interface Begun {
  authorizationUrl: string
  state: string
  codeVerifier: string
}

interface OAuthClient {
  begin(): Promise<Begun>
  /** @param url the address at which the browser came back; its state, issuer and code are checked */
  redeem(url: URL, begun: Omit<Begun, 'authorizationUrl'>): Promise<{ tokens: Tokens; account: Account | null }>
  refresh(tokens: Tokens): Promise<Tokens>
}

/** The clients by the id of their provider. */
export type OAuthClients = ReadonlyMap<string, OAuthClient>

const timeoutSeconds = 30

/**
 * Opens a client for each OAuth provider of the settings. openid-client is loaded when the first one is used.
 *
 * @throws ConfigError if the environment lacks the secret of a client.
 */
export function openOAuthClients(
  { providers, origin }: Config,
  environment: Readonly<Record<string, string | undefined>>,
  now: () => Date,
): OAuthClients {
  const own = providers.filter((provider): provider is OAuth2 => provider.method === 'oauth2')
  return new Map(
    own.map((provider) => [provider.id, openOAuthClient(provider, secretOf(provider, environment), origin, now)]),
  )
}

function secretOf({ id, clientSecretEnv }: OAuth2, environment: Readonly<Record<string, string | undefined>>) {
  if (clientSecretEnv === undefined) return undefined
  const secret = environment[clientSecretEnv]
  if (!secret) throw new ConfigError('', `the client secret of ${id} is missing: set ${clientSecretEnv}`)
  return secret
}

function openOAuthClient(provider: OAuth2, secret: string | undefined, origin: string, now: () => Date): OAuthClient {
  let configured: Promise<Configuration> | undefined
  const configuration = () => {
    configured ??= configure(provider, secret).catch((error) => {
      configured = undefined
      throw error
    })
    return configured
  }
  return {
    async begin() {
      const [oidc, config] = await Promise.all([import('openid-client'), configuration()])
      const [codeVerifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()]
      const url = oidc.buildAuthorizationUrl(config, {
        ...provider.authorizationParameters,
        redirect_uri: `${origin}/oauth/callback`,
        scope: provider.scopes.join(' '),
        state,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
      return { authorizationUrl: url.href, state, codeVerifier }
    },
    async redeem(url, { state, codeVerifier }) {
      const [oidc, config] = await Promise.all([import('openid-client'), configuration()])
      const checks = { expectedState: state, pkceCodeVerifier: codeVerifier }
      const answer = await oidc.authorizationCodeGrant(config, url, checks)
      return { tokens: tokensOf(answer, now(), null), account: accountOf(answer[idTokenMember], provider.clientId) }
    },
    async refresh(tokens) {
      const [oidc, config] = await Promise.all([import('openid-client'), configuration()])
      return tokensOf(await oidc.refreshTokenGrant(config, tokens.refreshToken ?? ''), now(), tokens)
    },
  }
}

async function configure(provider: OAuth2, secret: string | undefined): Promise<Configuration> {
  const oidc = await import('openid-client')
  const { issuer, authorizationEndpoint, tokenEndpoint, clientId } = provider
  const authentication = secret === undefined ? oidc.None() : oidc.ClientSecretPost(secret)
  const insecure = isLoopback(issuer.hostname) ? [oidc.allowInsecureRequests] : []
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
    return oidc.discovery(issuer, clientId, undefined, authentication, {
      ...{ execute: insecure, timeout: timeoutSeconds, [oidc.customFetch]: fetchSpelled },
    })
  const endpoints = { authorization_endpoint: authorizationEndpoint.href, token_endpoint: tokenEndpoint.href }
  const metadata = { issuer: issuer.href.replace(/\/$/, ''), ...endpoints }
  const config = new oidc.Configuration(metadata, clientId, undefined, authentication)
  for (const apply of insecure) apply(config)
  config.timeout = timeoutSeconds
  config[oidc.customFetch] = fetchSpelled
  return config
}

/** The library sends POST requests only to the token endpoint. */
const fetchSpelled: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit)
  return options.method === 'POST' ? readTokenAnswer(response) : response
}

/** A provider that does not rotate refresh tokens returns none. The previous one then stays valid. */
function tokensOf(
  answer: TokenEndpointResponse & TokenEndpointResponseHelpers,
  now: Date,
  before: Tokens | null,
): Tokens {
  const instant = (seconds: unknown) =>
    typeof seconds === 'number' && seconds > 0 ? new Date(now.getTime() + seconds * 1000).toISOString() : null
  const refreshToken = answer.refresh_token ?? before?.refreshToken ?? null
  const isNew = answer.refresh_token !== undefined
  const refreshExpiresAt = isNew ? instant(answer.refresh_token_expires_in) : (before?.refreshExpiresAt ?? null)
  return { accessToken: answer.access_token, refreshToken, expiresAt: instant(answer.expires_in), refreshExpiresAt }
}

/**
 * The meaning of a failed refresh. `rejected`: the provider no longer accepts the refresh token. `not_sent`: the
 * provider never got the request. `refused`: the provider did nothing, for another reason. `unknown`: the provider may
 * have replaced the token, and its answer is lost.
 */
export type RefreshFailure = 'rejected' | 'not_sent' | 'refused' | 'unknown'

/** Codes with which a provider says that only the person can help, besides `invalid_grant` of RFC 6749. */
const rejections = new Set([
  'invalid_grant',
  // GitHub
  'bad_refresh_token',
  // Slack
  'invalid_refresh_token',
  'token_expired',
  'token_revoked',
  'account_inactive',
  // Microsoft, and OpenID Connect: the person has to sign in, agree or enter a second factor.
  'interaction_required',
  'login_required',
  'consent_required',
  // Salesforce
  'inactive_user',
  'inactive_org',
])

/** Codes for a failure of the provider itself. They do not say whether it has replaced the token. */
const failures = new Set(['server_error', 'internal_error', 'fatal_error', 'no_token'])

const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/**
 * `code` is the provider's own, for the operator of the executor. Null if the provider sent none that a log may
 * contain.
 */
export function refreshFailureOf(error: unknown): { failure: RefreshFailure; code: string | null } {
  const { error: answered, status, code, cause } = (error ?? {}) as Record<string, unknown>
  if (typeof answered === 'string')
    return { failure: failureOf(answered), code: /^[\w.-]{1,64}$/.exec(answered)?.[0] ?? null }
  if (typeof status === 'number' && ((status >= 400 && status < 500) || status === 503))
    return { failure: 'refused', code: `HTTP ${status}` }
  if (neverSent.has(String(code))) return { failure: 'not_sent', code: String(code) }
  return cause === undefined || cause === error ? { failure: 'unknown', code: null } : refreshFailureOf(cause)
}

function failureOf(answered: string): RefreshFailure {
  if (rejections.has(answered)) return 'rejected'
  return failures.has(answered) ? 'unknown' : 'refused'
}
