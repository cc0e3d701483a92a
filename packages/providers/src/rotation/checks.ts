import { type AccountKind, rotationConfigProblem, rotationKinds } from '@skerry/contract/rotation/kinds'
import { Value } from 'typebox/value'
import { checkConfig } from '../leases/checks.ts'
import { ProviderError } from '../provider-error.ts'
import type { Account } from './provider.ts'

/**
 * Refuses values that must not appear in a statement. Also refuses the admin’s own account, because nobody would know
 * its password afterwards. The API has checked the values. A caller that bypasses it gets the error here, before
 * anything is sent.
 */
export function checkAccount(account: Account<AccountKind>, adminUser: string): void {
  const { config, target, username } = account
  checkConfig(target.config)
  const [error] = Value.Errors(rotationKinds[config.kind].config, config)
  if (error) throw new ProviderError('invalid', `config${error.instancePath}: ${error.message}`)
  const problem = rotationConfigProblem(config, '')
  if (problem !== null) throw new ProviderError('invalid', `config.${problem}`)
  const usernames = [config.username, 'alternateUsername' in config ? config.alternateUsername : undefined]
  if (!usernames.includes(username))
    throw new ProviderError('invalid', 'config.username: must be the account that was registered')
  if (username.toLowerCase() === adminUser.toLowerCase())
    throw new ProviderError('invalid', `config: ${username} is the target’s own admin account`)
}
