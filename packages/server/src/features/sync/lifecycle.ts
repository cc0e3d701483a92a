import type { SyncConnection, syncRunStatuses } from '@skerry/contract/sync/schemas'
import type { Static } from 'typebox'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type RunStatus = (typeof syncRunStatuses)[number]
export type RunTrigger = 'take' | 'finish'

/** A run is `running` from when it is asked for, whether it waits or works. What has ended is not taken up again. */
export const runLifecycle = lifecycle<RunStatus, RunTrigger>('run', [
  ['running', 'take', 'running'],
  ['running', 'finish', 'succeeded'],
  ['running', 'finish', 'partial'], // something was done, or was there already
  ['running', 'finish', 'failed'],
])

export type ConnectionStatus = Static<typeof SyncConnection>['status']
export type ConnectionTrigger = 'reach' | 'miss' | 'replace'

/** A connection is as the last call there has found it. Another credential has proven nothing yet. */
export const connectionLifecycle = lifecycle<ConnectionStatus, ConnectionTrigger>('connection', [
  ['unverified', 'reach', 'ready'],
  ['unverified', 'miss', 'failing'],
  ['unverified', 'replace', 'unverified'],
  ['ready', 'reach', 'ready'],
  ['ready', 'miss', 'failing'],
  ['ready', 'replace', 'unverified'],
  ['failing', 'reach', 'ready'],
  ['failing', 'miss', 'failing'],
  ['failing', 'replace', 'unverified'],
])
