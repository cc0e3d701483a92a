import type { SyncConnection, syncRunStatuses } from '@skerry/contract/sync/schemas'
import type { Static } from 'typebox'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type RunStatus = (typeof syncRunStatuses)[number]
export type RunTrigger = 'take' | 'finish'

/** A run is `running` from its request on, whether it waits or works. A run that has ended cannot start again. */
export const runLifecycle = lifecycle<RunStatus, RunTrigger>('run', [
  ['running', 'take', 'running'],
  ['running', 'finish', 'succeeded'],
  ['running', 'finish', 'partial'], // some names failed, or an error came after the first push
  ['running', 'finish', 'failed'],
])

export type ConnectionStatus = Static<typeof SyncConnection>['status']
export type ConnectionTrigger = 'reach' | 'miss' | 'replace'

/** The status of a connection is the result of its last call. A new credential is unverified. */
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
