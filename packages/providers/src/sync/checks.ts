import { type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { syncProblem } from '@skerry/contract/sync/rules'
import { Value } from 'typebox/value'
import { ProviderError } from '../provider-error.ts'
import type { SyncPlace } from './provider.ts'

/**
 * Refuses settings that can never work. The API has checked them against the same schemas. Settings from another caller
 * must not reach a URL either.
 */
export function checkPlace<T extends SyncTag>({ config, destination }: SyncPlace<T>): void {
  const schemas = syncProviders[config.provider]
  for (const [field, value] of Object.entries({ config, destination }) as ['config' | 'destination', never][]) {
    const [error] = Value.Errors(schemas[field], value)
    if (error) throw new ProviderError('invalid', `${field}${error.instancePath}: ${error.message}`)
    const problem = syncProblem(value)
    // The fields of a destination have no prefix, as in the refusals of the API.
    if (problem !== null) throw new ProviderError('invalid', field === 'config' ? `config.${problem}` : problem)
  }
}

/** Checks a credential that a header carries. HTTP allows no spaces and control characters there. */
export function headerCredential(credential: string): string {
  const token = credential.trim()
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new ProviderError('invalid', 'the credential is empty or contains spaces or control characters')
  return token
}

/** Normalizes the root of an API: host in lower case, no default port, no slash at the end. */
export function rootOf(typed: string): string {
  const { origin, pathname } = new URL(typed)
  return `${origin}${pathname.replace(/\/$/, '')}`
}
