import type { VaultMethod } from '@skerry/contract/vault/facts'
import type { DomainSet } from './domain-sets.ts'

/** Where a provider's credential may be sent. Of `methods` and `paths` an absent or empty list means any. */
export interface FetchRule {
  /** An exact hostname, with a port where it is not that of https: `api.example.com`, `api.example.com:8443`. */
  host: string
  methods?: string[]
  /** Globs on the path: `**` is any number of whole segments, `*` any run of characters within one. */
  paths?: string[]
}

/** The header in which the executor sends a credential, for requests that place it nowhere themselves. */
export interface SentAs {
  /** `Authorization` unless given. */
  header?: string
  /** The word before the credential; `''` for none. Unless given, `Bearer` in `Authorization`, and none in other headers. */
  scheme?: string
}

interface Shown {
  /** Lowercase letters, digits, inner hyphens and underscores. */
  id: string
  displayName: string
  /** What a person agrees to, in their words. */
  consentSummary: string
  /** 1 unless given. Raise it with each change of the text. */
  consentVersion?: number
}

export interface ApiKeyProvider extends Shown {
  method: 'api_key'
  /** What the field on the Connect page is called. */
  keyLabel?: string
  /** https; where a person finds their key. */
  helpUrl?: string
  /** `Authorization: Bearer <key>` unless given. */
  sentAs?: SentAs
  rules: FetchRule[]
}

export interface OAuth2Provider extends Shown {
  method: 'oauth2'
  /** https, or http on the loopback interface. Its metadata are discovered unless both endpoints are given. */
  issuer: string
  authorizationEndpoint?: string
  tokenEndpoint?: string
  clientId: string
  /** The environment variable that holds the client's secret; none for a public client. */
  clientSecretEnv?: string
  scopes: string[]
  /** What people read on the Connect page in the place of a scope: `{ 'calendar.readonly': 'Read your calendar' }`. */
  scopeTexts?: Record<string, string>
  /** Further parameters of the authorization request, such as Google's `access_type`. */
  authorizationParameters?: Record<string, string>
  /** `Authorization: Bearer <access token>` unless given. */
  sentAs?: SentAs
  rules: FetchRule[]
}

/** A site that has no API: it is used in a browser, as the person who signed in there. */
export interface SiteProfile extends Shown {
  method: 'browser'
  /** What is opened first; a browser that is signed in stays there. */
  startUrl: string
  /** Where people sign in. Its origin is one at which a stored login may be filled in. */
  loginUrl: string
  /** Further origins at which it may, such as that of a shared sign-in. */
  loginOrigins?: string[]
  /** Hosts that the browser may reach, each with its subdomains: `shop.example`, `shop.example:8443`. All others it cannot. */
  domains: string[]
  /** Lists of hosts that many sites load scripts and fonts from. */
  domainSets?: DomainSet[]
  /** A browser that ends at an address that begins like one of these is signed out. */
  signedOutUrlPrefixes: string[]
  /** `login`: user name and password. `session`: cookies and storage of a browser that is signed in. Both unless given. */
  slots?: ('login' | 'session')[]
  /** CSS selectors of the fields on the sign-in page, where the usual ones are not found. */
  fields?: { username?: string; password?: string; totp?: string }
}

/** How browsers are run, for sites. */
export interface BrowserSettings {
  /** Path of Chromium; looked for in PATH unless given. None is ever downloaded. */
  executable?: string
  /** Chromium's own sandbox, which cannot start as root. True unless given. */
  sandbox?: boolean
  /** How many run at once, each some hundred megabytes: 4 unless given. */
  max?: number
}

export interface VaultConfig {
  /** At which browsers and the backend reach this executor: https, or http on the loopback interface. */
  origin: string
  /** `127.0.0.1:4710` unless given. TLS ends before it. */
  listen?: string
  /** `/connect` of the server unless given. */
  connectUrl?: string
  /** Addresses and CIDR ranges inside one's own network that requests may go to. None unless given. */
  allowNetworks?: string[]
  providers?: (ApiKeyProvider | OAuth2Provider)[]
  sites?: SiteProfile[]
  browser?: BrowserSettings
}

/**
 * The settings of an executor, typed, for the default export of `vault.config.ts`. What is wrong in them is told by the
 * commands, with its place.
 *
 * @example
 * const rules = [{ host: 'api.acme.example.com', paths: ['/v1/orders/**'] }]
 * const acme = apiKeyProvider({ id: 'acme', displayName: 'Acme', consentSummary: 'Reads and writes your orders.', rules })
 * defineVaultConfig({ origin: 'https://executor.example.com', providers: [acme] })
 */
export const defineVaultConfig = (config: VaultConfig): VaultConfig => config

type Without<P extends { method: VaultMethod }> = Omit<P, 'method'>

/** A provider whose users bring an API key. */
export const apiKeyProvider = (provider: Without<ApiKeyProvider>): ApiKeyProvider => ({
  ...provider,
  method: 'api_key',
})

/** A provider whose users sign in at it, by OAuth 2.0 with PKCE. */
export const oauth2Provider = (provider: Without<OAuth2Provider>): OAuth2Provider => ({ ...provider, method: 'oauth2' })

/** A site that people sign in to with a browser. */
export const siteProfile = (site: Without<SiteProfile>): SiteProfile => ({ ...site, method: 'browser' })

type Preset = Pick<OAuth2Provider, 'displayName' | 'issuer' | 'rules'> & Partial<OAuth2Provider>

const presets = {
  // Without both parameters Google gives a refresh token to nobody, or only once.
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

/** Providers whose facts are known: give the client, and what people agree to. */
export const oauth2Preset = { google: presetOf(presets.google), github: presetOf(presets.github) }
