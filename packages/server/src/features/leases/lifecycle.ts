import type { leaseStatuses } from '@skerry/contract/leases'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof leaseStatuses)[number]
export type Trigger = 'create' | 'activate' | 'fail' | 'end' | 'gone' | 'give_up' | 'forget'

/** A crash at any point leaves a state in which the ledger knows every account that may be on the target. */
export const leaseLifecycle = lifecycle<Status, Trigger>('lease', [
  ['pending', 'create', 'creating'], // the target has been reached, and nothing was sent to it yet
  ['pending', 'fail', 'failed'],
  ['pending', 'end', 'revoking'],
  ['creating', 'activate', 'active'],
  ['creating', 'fail', 'failed'], // the target said that it changed nothing
  ['creating', 'end', 'revoking'], // something may have been made
  ['active', 'end', 'revoking'],
  ['active', 'gone', 'expired'], // where nothing can be taken back
  ['active', 'gone', 'revoked'],
  ['revoking', 'gone', 'expired'],
  ['revoking', 'gone', 'revoked'],
  ['revoking', 'gone', 'failed'],
  ['revoking', 'give_up', 'orphaned'],
  ['orphaned', 'end', 'revoking'],
  ['orphaned', 'forget', 'revoked'],
])

/** The states from which a trigger leads anywhere. */
export const statesBefore = (trigger: Trigger): Status[] => [
  ...new Set(leaseLifecycle.moves.flatMap(([from, by]) => (by === trigger ? [from] : []))),
]
