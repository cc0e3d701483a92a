import { lifecycle } from '../../kernel/lifecycle.ts'
import type { KmsKey } from './scope.ts'

export type State = 'enabled' | 'disabled' | 'deleted'
export type Trigger = 'use' | 'grant' | 'rotate' | 'disable' | 'enable' | 'delete'

/** A deleted key stays deleted, and no request finds it. */
export const keyLifecycle = lifecycle<State, Trigger>('key', [
  ['enabled', 'use', 'enabled'],
  ['enabled', 'grant', 'enabled'],
  ['enabled', 'rotate', 'enabled'],
  ['enabled', 'disable', 'disabled'],
  ['enabled', 'delete', 'deleted'],
  ['disabled', 'enable', 'enabled'],
  ['disabled', 'delete', 'deleted'],
])

/** The state of a key that was found, and is therefore not deleted. */
export const stateOf = ({ disabled }: Pick<KmsKey, 'disabled'>): State => (disabled ? 'disabled' : 'enabled')
