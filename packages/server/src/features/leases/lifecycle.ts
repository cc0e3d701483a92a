import type { LeaseTarget, leaseStatuses } from '@skerry/contract/leases/schemas'
import type { Static } from 'typebox'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type Status = (typeof leaseStatuses)[number]
export type Trigger =
  | 'create'
  | 'activate'
  | 'fail'
  | 'cut_off'
  | 'expire'
  | 'end'
  | 'gone'
  | 'give_up'
  | 'forget'
  | 'abandon'

/** A crash at any point leaves a state in which the ledger knows every account that may be on the target. */
export const leaseLifecycle = lifecycle<Status, Trigger>('lease', [
  ['pending', 'create', 'creating'], // the target has been reached, and nothing was sent to it yet
  ['pending', 'fail', 'failed'],
  ['pending', 'cut_off', 'failed'],
  ['pending', 'end', 'revoking'],
  ['creating', 'activate', 'active'],
  ['creating', 'fail', 'failed'], // the target reported that it changed nothing
  ['creating', 'cut_off', 'revoking'], // an account may have been made
  ['creating', 'end', 'revoking'],
  ['active', 'expire', 'revoking'],
  ['active', 'end', 'revoking'],
  ['revoking', 'gone', 'expired'],
  ['revoking', 'gone', 'revoked'],
  ['revoking', 'gone', 'failed'],
  ['revoking', 'give_up', 'orphaned'],
  ['orphaned', 'end', 'revoking'],
  ['orphaned', 'forget', 'revoked'],
  ['pending', 'abandon', 'revoked'], // its target was removed by force
  ['creating', 'abandon', 'revoked'],
  ['active', 'abandon', 'revoked'],
  ['revoking', 'abandon', 'revoked'],
  ['orphaned', 'abandon', 'revoked'],
])

export type TargetStatus = Static<typeof LeaseTarget>['status']
export type TargetTrigger = 'reach' | 'miss' | 'replace' | 'pause'

/** A target never ends: its status is the result of its last check. Only a provisioner's target can be `untested`. */
export const targetLifecycle = lifecycle<TargetStatus, TargetTrigger>('target', [
  ['untested', 'reach', 'ready'],
  ['untested', 'miss', 'failing'],
  ['untested', 'replace', 'untested'], // this server cannot try the new credential
  ['ready', 'reach', 'ready'],
  ['ready', 'miss', 'failing'],
  ['ready', 'replace', 'untested'],
  ['failing', 'reach', 'ready'],
  ['failing', 'miss', 'failing'],
  ['failing', 'replace', 'untested'],
  ['untested', 'pause', 'paused'], // it ended the process of its adapter several times in a row
  ['ready', 'pause', 'paused'],
  ['failing', 'pause', 'paused'],
  ['paused', 'pause', 'paused'],
  ['paused', 'reach', 'ready'],
  ['paused', 'miss', 'paused'],
  ['paused', 'replace', 'untested'],
])
