import { isLoopback } from '@skerry/contract/loopback'
import { decide } from '@skerry/crypto/policy-decide'
import type { Config, Provider, Rule } from '../config/config.ts'
import { hostOf, portOf } from '../config/values.ts'
import { fail } from '../http/refusal.ts'
import type { Wanted } from './request.ts'

/** The reasons for which a provider's rules refuse a request. */
const sentences = {
  no_rule: 'no rule of the provider covers this host',
  path_not_allowed: 'no rule of the provider allows this path',
  method_not_allowed: 'the rule for this path does not allow the method',
  secret_not_allowed: 'the provider has no such credential',
} as const

/** A request that the rules of a provider permit. A request is refused unless a rule permits it. */
export interface Permitted {
  provider: Provider
  /** @throws VaultRefusal `not_allowed` for any other placeholder. */
  checkName(name: string): void
}

/** @throws VaultRefusal `not_allowed`; `invalid_request` for a site, whose credentials no request can contain. */
export function permit({ providers, sites }: Config, providerId: string, { method, url }: Wanted): Permitted {
  if (sites.some(({ id }) => id === providerId))
    throw fail('invalid_request', 'connectionId: this is a connection to a site: use /v1/browser/open')
  const provider = providers.find(({ id }) => id === providerId)
  if (!provider) throw fail('not_allowed', 'the executor’s settings no longer have this provider')
  if (url.protocol !== 'https:' && !isLoopback(url.hostname))
    throw fail('not_allowed', 'a credential is not sent over plain HTTP: use https://')
  const rules = provider.rules.filter(({ port }) => port === portOf(url))
  const operation = { host: hostOf(url), method, path: url.pathname }
  const check = (secret?: string) => {
    const { decision } = decide(rules as readonly Rule[], { ...operation, secret })
    if (decision !== 'allow') throw fail('not_allowed', sentences[decision])
  }
  check()
  return { provider, checkName: check }
}
