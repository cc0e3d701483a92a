import type { Body } from '@skerry/contract/endpoint'
import type { vaultExecutor } from '@skerry/contract/vault/executor'
import { allOf, type Config, type Provider } from './config.ts'
import type { Site } from './site.ts'

export type Catalog = Body<typeof vaultExecutor.catalog>['catalog']
type Entry = Catalog['providers'][number]

/** The catalog that people see. It does not say where their credentials are sent. */
export const catalogOf = (config: Config): Catalog => ({ providers: allOf(config).map(entryOf) })

function entryOf(provider: Provider | Site): Entry {
  const { id, displayName, consentSummary, consentVersion } = provider
  return { id, displayName, consentSummary, consentVersion, ...ofMethod(provider) }
}

/** Scopes that mean the same at every OpenID Connect provider. */
const commonScopes: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours',
  email: 'See your e-mail address',
  profile: 'See your name and picture',
  offline_access: 'Use your account while you are away',
}

/** Returns the text for a scope. A scope without a description is shown as it is. */
function wordsOf(scope: string, texts: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(texts, scope)) return texts[scope]!
  return Object.hasOwn(commonScopes, scope) ? commonScopes[scope]! : scope
}

function ofMethod(
  provider: Provider | Site,
): Pick<Entry, 'method' | 'slots' | 'scopes' | 'keyLabel' | 'helpUrl' | 'loginUrl'> {
  const { method } = provider
  if (method === 'oauth2')
    return { method, slots: ['oauth2'], scopes: provider.scopes.map((scope) => wordsOf(scope, provider.scopeTexts)) }
  if (method === 'browser') {
    const { slots, loginUrl } = provider
    // The catalog accepts only https. Others could not open a site on this machine anyway.
    return { method, slots, ...(loginUrl.protocol === 'https:' ? { loginUrl: loginUrl.href } : {}) }
  }
  const { keyLabel, helpUrl } = provider
  return {
    method,
    slots: ['api_key'],
    ...(keyLabel === undefined ? {} : { keyLabel }),
    ...(helpUrl === undefined ? {} : { helpUrl: helpUrl.href }),
  }
}
