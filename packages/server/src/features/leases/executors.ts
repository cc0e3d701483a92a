import { broker } from './broker.ts'
import type { Executor } from './executor.ts'
import { provisionedBy } from './provisioned.ts'
import type { LeaseTarget } from './scope.ts'

/** Chooses the executor of a target by its settings. For a deleted target the executor is this server. */
export function executorOf(target: Pick<LeaseTarget, 'config'> | undefined): Executor {
  const { executor, provisionerTokenId } = (target?.config ?? {}) as { executor?: string; provisionerTokenId?: string }
  return executor === 'provisioner' && provisionerTokenId ? provisionedBy(provisionerTokenId) : broker
}
