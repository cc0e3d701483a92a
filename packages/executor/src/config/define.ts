import type { VaultMethod } from '@skerry/contract/vault/facts'
import type { DomainSet } from './domain-sets.ts'

/**
 * A destination to which a provider's credential may be sent. An absent or empty list of `methods` or `paths` allows
 * any.
 */
export interface FetchRule {
  /** An exact hostname, with its port unless that is 443: `api.example.com`, `api.example.com:8443`. */
  host: string
  methods?: string[]
  /** Globs on the path: `**` matches any number of whole segments, `*` any characters within one segment. */
  paths?: string[]
}

/** The header in which the executor sends a credential, for requests without a placeholder for it. */
export interface SentAs {
  /** Default: `Authorization`. */
  header?: string
  /** The word before the credential; `''` for none. Default: `Bearer` in `Authorization`, and none in other headers. */
  scheme?: string
}

interface Shown {
  /** Lowercase letters, digits, inner hyphens and underscores. */
  id: string
  displayName: string
  /** The text that a person agrees to. */
  consentSummary: string
  /** Default 1. Raise it with each change of the text. */
  consentVersion?: number
}

export interface ApiKeyProvider extends Shown {
  method: 'api_key'
  /** The label of the field on the Connect page. */
  keyLabel?: string
  /** The https address where a person finds their key. */
  helpUrl?: string
  /** Default: `Authorization: Bearer <key>`. */
  sentAs?: SentAs
  rules: FetchRule[]
}

export interface OAuth2Provider extends Shown {
  method: 'oauth2'
  /** https, or http on the loopback interface. Its metadata is discovered unless both endpoints are given. */
  issuer: string
  authorizationEndpoint?: string
  tokenEndpoint?: string
  clientId: string
  /** The environment variable with the client's secret. Absent for a public client. */
  clientSecretEnv?: string
  scopes: string[]
  /** Texts that the Connect page shows instead of scopes: `{ 'calendar.readonly': 'Read your calendar' }`. */
  scopeTexts?: Record<string, string>
  /** Further parameters of the authorization request, such as Google's `access_type`. */
  authorizationParameters?: Record<string, string>
  /** Default: `Authorization: Bearer <access token>`. */
  sentAs?: SentAs
  rules: FetchRule[]
}

/** A site without an API. It is used in a browser, as the person who signed in there. */
export interface SiteProfile extends Shown {
  method: 'browser'
  /** The page that is opened first. A browser that is signed in stays there. */
  startUrl: string
  /** The sign-in page. A stored login may be filled in at its origin. */
  loginUrl: string
  /** Further origins where a stored login may be filled in, such as that of a shared sign-in. */
  loginOrigins?: string[]
  /**
   * Hosts that the browser may reach, each with its subdomains: `shop.example`, `shop.example:8443`. All others are
   * blocked.
   */
  domains: string[]
  /** Lists of hosts from which many sites load scripts and fonts. */
  domainSets?: DomainSet[]
  /** A browser is signed out if the address that it ends at begins with one of these. */
  signedOutUrlPrefixes: string[]
  /** `login`: user name and password. `session`: cookies and storage of a browser that is signed in. Default: both. */
  slots?: ('login' | 'session')[]
  /** CSS selectors of the fields on the sign-in page, if the usual ones do not match. */
  fields?: { username?: string; password?: string; totp?: string }
}

/** The settings of the browsers for sites. */
export interface BrowserSettings {
  /** Path of Chromium. Default: the one in PATH. Chromium is never downloaded. */
  executable?: string
  /** Chromium's own sandbox, which cannot start as root. Default: true. */
  sandbox?: boolean
  /** The most browsers that run at once, each with some hundred megabytes. Default: 4. */
  max?: number
}

export interface VaultConfig {
  /** The origin at which browsers and the backend reach this executor: https, or http on the loopback interface. */
  origin: string
  /** Default: `127.0.0.1:4710`. The executor serves plain HTTP, so a proxy in front of it must end TLS. */
  listen?: string
  /** Default: `/connect` of the server. */
  connectUrl?: string
  /** Addresses and CIDR ranges inside your own network that requests may reach. Default: none. */
  allowNetworks?: string[]
  providers?: (ApiKeyProvider | OAuth2Provider)[]
  sites?: SiteProfile[]
  browser?: BrowserSettings
}

/**
 * The settings of an executor, typed, for the default export of `vault.config.ts`. The commands report errors in them,
 * with the path of the field.
 *
 * @example
 * const rules = [{ host: 'api.acme.example.com', paths: ['/v1/orders/**'] }]
 * const acme = apiKeyProvider({ id: 'acme', displayName: 'Acme', consentSummary: 'Reads and writes your orders.', rules })
 * defineVaultConfig({ origin: 'https://executor.example.com', providers: [acme] })
 */
export const defineVaultConfig = (config: VaultConfig): VaultConfig => config

type Without<P extends { method: VaultMethod }> = Omit<P, 'method'>

/** A provider whose users enter an API key. */
export const apiKeyProvider = (provider: Without<ApiKeyProvider>): ApiKeyProvider => ({
  ...provider,
  method: 'api_key',
})

/** A provider at which users sign in, with OAuth 2.0 and PKCE. */
export const oauth2Provider = (provider: Without<OAuth2Provider>): OAuth2Provider => ({ ...provider, method: 'oauth2' })

/** A site that people sign in to with a browser. */
export const siteProfile = (site: Without<SiteProfile>): SiteProfile => ({ ...site, method: 'browser' })

type Preset = Pick<OAuth2Provider, 'displayName' | 'issuer' | 'rules'> & Partial<OAuth2Provider>

const presets = {
  // Without both parameters, Google gives no refresh token, or gives one only the first time.
  google: {
    displayName: 'Google',
    issuer: 'https://accounts.google.com',
    authorizationParameters: { access_type: 'offline', prompt: 'consent' },
    rules: ['www.googleapis.com', 'gmail.googleapis.com'].map((host) => ({ host })),
  },
  github: {
    displayName: 'GitHub',
    issuer: 'https://github.com/login/oauth',
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    rules: [{ host: 'api.github.com' }],
  },
} as const satisfies Record<string, Preset>

type FromPreset = Pick<OAuth2Provider, 'id' | 'consentSummary' | 'clientId' | 'scopes'> &
  Partial<Without<OAuth2Provider>>

const presetOf = (preset: Preset) => (more: FromPreset) => oauth2Provider({ ...preset, ...more })

/** Providers with known settings. You add the client and the consent text. */
export const oauth2Preset = { google: presetOf(presets.google), github: presetOf(presets.github) }
