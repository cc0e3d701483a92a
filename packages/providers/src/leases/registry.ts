import type { LeaseTag } from '@skerry/contract/leases/providers'
import { vendorName } from '@skerry/contract/vendors'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import type { LeaseProvider, LeaseSession, LeaseTarget } from './provider.ts'

/** Every lease adapter. Each is loaded when it is first needed, because its driver costs memory and start-up time. */
const adapters = {
  postgres: () => import('./postgres.ts'),
  mysql: () => import('./mysql.ts'),
  redis: () => import('./redis.ts'),
  ssh: () => import('./ssh.ts'),
  'cloud-a': () => import('./aws-sts.ts'),
  'cloud-b': () => import('./google-iam.ts'),
  mongodb: () => import('./mongodb.ts'),
} satisfies { [T in LeaseTag]: () => Promise<LeaseProvider<T>> }

/**
 * Signs in to a target with the adapter of its kind.
 *
 * @example const session = await openLeaseTarget(config.provider, { config, credential: password }, outbound)
 */
export async function openLeaseTarget<T extends LeaseTag>(
  tag: T,
  target: LeaseTarget<T>,
  outbound: Outbound,
): Promise<LeaseSession<T>> {
  // The config is checked against the schema of its own tag, so a wrong tag would not be noticed later.
  if (target.config.provider !== tag) throw new ProviderError('invalid', `config/provider: must be ${vendorName(tag)}`)
  const load = adapters[tag] as unknown as () => Promise<LeaseProvider<T>>
  return await (await load()).open(target, outbound)
}
