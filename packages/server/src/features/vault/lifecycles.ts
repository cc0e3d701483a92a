import type {
  vaultConnectionStatuses,
  vaultDeliveryStatuses,
  vaultExecutorStatuses,
  vaultProjectStatuses,
  vaultSessionStatuses,
  vaultWebhookStatuses,
} from '@skerry/contract/vault/facts'
import { lifecycle } from '../../kernel/lifecycle.ts'

export type ProjectStatus = (typeof vaultProjectStatuses)[number]
export type ExecutorStatus = (typeof vaultExecutorStatuses)[number]
export type SessionStatus = (typeof vaultSessionStatuses)[number]
export type ConnectionStatus = (typeof vaultConnectionStatuses)[number]
export type WebhookStatus = (typeof vaultWebhookStatuses)[number]
export type DeliveryStatus = (typeof vaultDeliveryStatuses)[number]

/**
 * A disabled project releases nothing and opens no link. What it has stays, and can be revoked. A change that gives the
 * status which it has already is done.
 */
export const projectLifecycle = lifecycle<ProjectStatus, 'disable' | 'enable' | 'use'>('project', [
  ['active', 'use', 'active'],
  ['active', 'enable', 'active'],
  ['active', 'disable', 'disabled'],
  ['disabled', 'enable', 'active'],
  ['disabled', 'disable', 'disabled'],
])

/** One that is disabled stays so. Another takes over what is wrapped to the keys that it registers. */
export const executorLifecycle = lifecycle<ExecutorStatus, 'disable'>('executor', [['active', 'disable', 'disabled']])

/** A session expires by the clock: no row says so. Its person cancels it, or the end of the connection that it is to repair. */
export const sessionLifecycle = lifecycle<
  SessionStatus,
  'claim' | 'verify' | 'consent' | 'complete' | 'cancel' | 'expire'
>('session', [
  ['pending', 'claim', 'pending'],
  ['pending', 'verify', 'pending'],
  ['pending', 'consent', 'pending'],
  ['pending', 'complete', 'completed'],
  ['pending', 'cancel', 'cancelled'],
  ['pending', 'expire', 'expired'],
])

/** What is revoked stays so: nothing is left of its credentials. */
export const connectionLifecycle = lifecycle<
  ConnectionStatus,
  'release' | 'write' | 'capture' | 'require_reauth' | 'reactivate' | 'revoke'
>('connection', [
  ['active', 'release', 'active'],
  ['active', 'write', 'active'],
  ['active', 'capture', 'active'],
  ['active', 'require_reauth', 'reauth_required'],
  ['active', 'revoke', 'revoked'],
  ['reauth_required', 'write', 'reauth_required'],
  ['reauth_required', 'capture', 'active'],
  ['reauth_required', 'reactivate', 'active'],
  ['reauth_required', 'revoke', 'revoked'],
])

/** One that is disabled is sent nothing. */
export const webhookLifecycle = lifecycle<WebhookStatus, 'send' | 'disable' | 'enable'>('webhook', [
  ['active', 'send', 'active'],
  ['active', 'enable', 'active'],
  ['active', 'disable', 'disabled'],
  ['disabled', 'enable', 'active'],
  ['disabled', 'disable', 'disabled'],
])

/** What is dead was tried as often as there are pauses, and stays until someone has it sent again. */
export const deliveryLifecycle = lifecycle<DeliveryStatus, 'accept' | 'retry' | 'give_up' | 'redeliver'>('delivery', [
  ['pending', 'accept', 'delivered'],
  ['pending', 'retry', 'pending'],
  ['pending', 'give_up', 'dead'],
  ['pending', 'redeliver', 'pending'],
  ['delivered', 'redeliver', 'pending'],
  ['dead', 'redeliver', 'pending'],
])
