import type { Body } from '@skerry/contract/endpoint'
import type { vaultExecutor } from '@skerry/contract/vault-executor'
import type { Config, Provider } from './config.ts'

export type Catalog = Body<typeof vaultExecutor.catalog>['catalog']
type Entry = Catalog['providers'][number]

/** What people are shown. Where their credentials go stays here. */
export const catalogOf = ({ providers }: Config): Catalog => ({ providers: providers.map(entryOf) })

function entryOf(provider: Provider): Entry {
  const { id, displayName, consentSummary, consentVersion } = provider
  return { id, displayName, consentSummary, consentVersion, ...ofMethod(provider) }
}

function ofMethod(provider: Provider): Pick<Entry, 'method' | 'slots' | 'scopes' | 'keyLabel' | 'helpUrl'> {
  const { method } = provider
  if (method === 'oauth2') return { method, slots: ['oauth2'], scopes: provider.scopes }
  const { keyLabel, helpUrl } = provider
  return {
    method,
    slots: ['api_key'],
    ...(keyLabel === undefined ? {} : { keyLabel }),
    ...(helpUrl === undefined ? {} : { helpUrl: helpUrl.href }),
  }
}
