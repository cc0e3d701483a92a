import { decide } from '@skerry/crypto/policy-decide'
import type { Provider, Rule } from '../config/config.ts'
import { hostOf, isLoopback, portOf } from '../config/values.ts'
import { fail } from '../http/refusal.ts'
import type { Wanted } from './request.ts'

/** Why a provider's rules do not let a request through. */
const sentences = {
  no_rule: 'no rule of the provider covers this host',
  path_not_allowed: 'no rule of the provider permits this path',
  method_not_allowed: 'the rule for this path does not permit the method',
  secret_not_allowed: 'the provider has no such credential',
} as const

/** What the rules of a provider say about a request: nothing is permitted that is not found to be. */
export interface Permitted {
  /** @throws VaultRefusal `not_allowed` for a placeholder of something else. */
  checkName(name: string): void
}

/** @throws VaultRefusal `not_allowed`. */
export function permit(provider: Provider | undefined, { method, url }: Wanted): Permitted {
  if (!provider) throw fail('not_allowed', 'the settings no longer have this provider')
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw fail('not_allowed', 'a credential does not go out over plain HTTP')
  const rules = provider.rules.filter(({ port }) => port === portOf(url))
  const operation = { host: hostOf(url), method, path: url.pathname }
  const check = (secret?: string) => {
    const { decision } = decide(rules as readonly Rule[], { ...operation, secret })
    if (decision !== 'allow') throw fail('not_allowed', sentences[decision])
  }
  check()
  return { checkName: check }
}
