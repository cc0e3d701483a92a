import { vaultMethods } from '@skerry/contract/vault/facts'
import type { VaultCatalog, VaultProvider } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import { fail } from '../../../kernel/errors.ts'
import { checkHttps } from '../urls.ts'

export type Catalog = Static<typeof VaultCatalog>
export type Provider = Static<typeof VaultProvider>

/** Refuses a catalog with a provider that no person could connect, so that the person who registers it sees why. */
export function checkCatalog({ providers }: Catalog): void {
  const ids = new Set<string>()
  for (const [index, provider] of providers.entries()) {
    const place = `body.catalog.providers.${index}`
    if (ids.has(provider.id)) throw fail('invalid_request', `${place}.id: is there twice`)
    ids.add(provider.id)
    checkSlots(provider, `${place}.slots`)
    checkHttps(provider.helpUrl, `${place}.helpUrl`)
    checkHttps(provider.loginUrl, `${place}.loginUrl`)
  }
}

function checkSlots({ method, slots }: Provider, place: string): void {
  const ofMethod: readonly string[] = vaultMethods[method]
  const other = slots.find((slot) => !ofMethod.includes(slot))
  if (other !== undefined) throw fail('invalid_request', `${place}: ${method} has no slot ${other}`)
  if (new Set(slots).size < slots.length) throw fail('invalid_request', `${place}: a slot is there twice`)
}
