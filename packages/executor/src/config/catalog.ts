import type { Body } from '@skerry/contract/endpoint'
import type { vaultExecutor } from '@skerry/contract/vault-executor'
import { type AnyProvider, type Config, providersOf } from './config.ts'

export type Catalog = Body<typeof vaultExecutor.catalog>['catalog']
type Entry = Catalog['providers'][number]

/** What people are shown. Where their credentials go stays here. */
export const catalogOf = (config: Config): Catalog => ({ providers: providersOf(config).map(entryOf) })

function entryOf(provider: AnyProvider): Entry {
  const { id, displayName, consentSummary, consentVersion } = provider
  return { id, displayName, consentSummary, consentVersion, ...ofMethod(provider) }
}

function ofMethod(
  provider: AnyProvider,
): Pick<Entry, 'method' | 'slots' | 'scopes' | 'keyLabel' | 'helpUrl' | 'loginUrl'> {
  const { method } = provider
  if (method === 'oauth2') return { method, slots: ['oauth2'], scopes: provider.scopes }
  if (method === 'browser') {
    // A page for people is named on https alone.
    const loginUrl = provider.loginUrl.protocol === 'https:' ? { loginUrl: provider.loginUrl.href } : {}
    return { method, slots: provider.keepsLogin ? ['login', 'session'] : ['session'], ...loginUrl }
  }
  const { keyLabel, helpUrl } = provider
  return {
    method,
    slots: ['api_key'],
    ...(keyLabel === undefined ? {} : { keyLabel }),
    ...(helpUrl === undefined ? {} : { helpUrl: helpUrl.href }),
  }
}
