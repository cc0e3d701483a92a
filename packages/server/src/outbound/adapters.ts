import { fileURLToPath } from 'node:url'
import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { AccountCall } from '@skerry/providers/children/messages'
import { openPool, PoolBusyError } from '@skerry/providers/children/pool'
import { type Around, onRemoteAccount, type RemoteSession, withLeaseSession } from '@skerry/providers/children/remote'
import type { LeaseTarget } from '@skerry/providers/leases/provider'
import type { Account } from '@skerry/providers/rotation/provider'
import type { Config } from '../config.ts'
import { checkNoTransaction } from '../db/transaction-guard.ts'
import { fail } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { DoorSettings } from './adapter-child.ts'

/**
 * The only way to targets of leases and rotation. This process parses no data from a target. Adapters run in child
 * processes, and each child works for only one organization.
 */
export interface Adapters {
  /** Signs in to a target, uses the session and closes it. */
  onTarget<T>(
    orgId: string,
    target: LeaseTarget<LeaseTag>,
    around: Around,
    use: (session: RemoteSession) => Promise<T>,
    /**
     * How long to wait for a free child, in milliseconds. If unset, the job is refused with `rate_limited` when none is
     * free.
     */
    waitMs?: number,
  ): Promise<T>
  /** Makes one call of a rotation adapter. */
  onAccount(
    orgId: string,
    kind: AccountKind,
    account: Account<AccountKind>,
    around: Around,
    call: AccountCall,
  ): Promise<unknown>
  /** Process ids of the children. */
  pids(): number[]
  close(): Promise<void>
}

/**
 * A job counts as slow after this time. It is longer than a job needs to fail on a target that answers, and shorter
 * than the timeout for a target that does not answer.
 */
const slowMs = 5000

type Settings = Pick<Config, 'adapterProcesses' | 'adapterEnvironment' | 'privateTargets' | 'providerOrigins'>

export function openAdapters(config: Settings, log: Log): Adapters {
  const { adapterProcesses, adapterEnvironment, privateTargets, providerOrigins } = config
  const door: DoorSettings = { privateTargets, providerOrigins }
  const pool = openPool({
    file: fileURLToPath(new URL('./adapter-process.js', import.meta.url)),
    environment: adapterEnvironment,
    door,
    max: adapterProcesses,
    maxOfOwner: Math.floor(adapterProcesses / 2),
    reserved: 1,
    slowMs,
    onFault: ({ name, frames }) => log.warn('an adapter failed', { error: name, frames }),
  })
  const use = <T>(orgId: string, job: Parameters<typeof pool.use<T>>[1], waitMs?: number): Promise<T> => {
    checkNoTransaction()
    return pool.use(orgId, job, waitMs).catch((error) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw fail('rate_limited', 'too many targets are in use at this moment: try again', { retryAfterSeconds: 5 })
    })
  }
  return {
    onTarget: (orgId, target, around, work, waitMs) =>
      use(orgId, (child) => withLeaseSession(child, target, around, work), waitMs),
    onAccount: (orgId, kind, account, around, call) =>
      use(orgId, (child) => onRemoteAccount(child, kind, account, around, call)),
    pids: pool.pids,
    close: pool.close,
  }
}
