import { type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { syncProblem } from '@skerry/contract/sync/rules'
import { Value } from 'typebox/value'
import { ProviderError } from '../provider-error.ts'
import type { SyncPlace } from './provider.ts'

/**
 * Refuses a place that can never be. The API has checked it against the same schemas; a place that comes another way must not
 * reach a URL either.
 */
export function checkPlace<T extends SyncTag>({ config, destination }: SyncPlace<T>): void {
  const schemas = syncProviders[config.provider]
  for (const [field, value] of Object.entries({ config, destination }) as ['config' | 'destination', never][]) {
    const [error] = Value.Errors(schemas[field], value)
    if (error) throw new ProviderError('invalid', `${field}${error.instancePath}: ${error.message}`)
    const problem = syncProblem(value)
    // The field of a destination comes first, as in the refusals of the API.
    if (problem !== null) throw new ProviderError('invalid', field === 'config' ? `config.${problem}` : problem)
  }
}

/** A credential that stands in a header. HTTP carries no spaces and control characters there. */
export function headerCredential(credential: string): string {
  const token = credential.trim()
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new ProviderError('invalid', 'the credential is empty, or holds spaces or control characters')
  return token
}

/** The root of an API as one text, however it was typed: host in lower case, no usual port, no slash at its end. */
export function rootOf(typed: string): string {
  const { origin, pathname } = new URL(typed)
  return `${origin}${pathname.replace(/\/$/, '')}`
}
