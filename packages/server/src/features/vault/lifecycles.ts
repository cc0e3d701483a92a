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
 * A disabled project releases no credential and opens no link that connects an account. Its connections stay, and people
 * and the backend can revoke them. Setting the status that a project already has succeeds.
 */
export const projectLifecycle = lifecycle<ProjectStatus, 'disable' | 'enable' | 'use'>('project', [
  ['active', 'use', 'active'],
  ['active', 'enable', 'active'],
  ['active', 'disable', 'disabled'],
  ['disabled', 'enable', 'active'],
  ['disabled', 'disable', 'disabled'],
])

/**
 * A disabled executor stays disabled. Another one can read credentials that are wrapped to keys that it registers too.
 */
export const executorLifecycle = lifecycle<ExecutorStatus, 'disable'>('executor', [['active', 'disable', 'disabled']])

/**
 * A session expires by the clock, and its row stays `pending`. It is cancelled by its person, or when the connection
 * that it would repair is revoked.
 */
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

/** A revoked connection stays revoked, because its credentials are deleted. */
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

/** A disabled webhook is sent nothing. */
export const webhookLifecycle = lifecycle<WebhookStatus, 'send' | 'disable' | 'enable'>('webhook', [
  ['active', 'send', 'active'],
  ['active', 'enable', 'active'],
  ['active', 'disable', 'disabled'],
  ['disabled', 'enable', 'active'],
  ['disabled', 'disable', 'disabled'],
])

/** A delivery is dead after its last retry. It stays dead until someone asks to send it again. */
export const deliveryLifecycle = lifecycle<DeliveryStatus, 'accept' | 'retry' | 'give_up' | 'redeliver'>('delivery', [
  ['pending', 'accept', 'delivered'],
  ['pending', 'retry', 'pending'],
  ['pending', 'give_up', 'dead'],
  ['pending', 'redeliver', 'pending'],
  ['delivered', 'redeliver', 'pending'],
  ['dead', 'redeliver', 'pending'],
])
