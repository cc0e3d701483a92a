import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { RotationProvider } from './provider.ts'

/**
 * Every rotation adapter. Each is loaded when it is first needed, because its driver costs memory and start-up time.
 */
const adapters = {
  postgres: () => import('./postgres.ts'),
  mysql: () => import('./mysql.ts'),
  redis: () => import('./redis.ts'),
} satisfies { [K in AccountKind]: () => Promise<RotationProvider<K>> }

/**
 * Loads the adapter of a kind of account.
 *
 * @example const { change } = await loadRotation('postgres')
 */
export const loadRotation = <K extends AccountKind>(kind: K): Promise<RotationProvider<K>> =>
  (adapters[kind] as unknown as () => Promise<RotationProvider<K>>)()
