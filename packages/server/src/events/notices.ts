import type { NotificationType } from '@skerry/contract/notifications/types'
import type { Event } from './events.ts'
import type { EventType } from './types.ts'

/** A mail before its recipients are known. The descriptor of a feature defines which notice an event becomes. */
export type Notice = { [T in NotificationType]: { type: T; to: Audience; facts: NoticeFacts[T] } }[NotificationType]

/** A row for each event that causes a mail. A row that returns null sends no mail for this event. */
export type Notices = { [E in EventType]?: (event: Event<E>) => Notice | null }

type Audience =
  | { userId: string }
  /** Every owner and admin of the event's organization except one: the person who caused the event. */
  | { adminsExcept: string | null }
  /** The admins of the organization of the event, and the custodians, who have the shares of its recovery key. */
  | 'adminsAndCustodians'
  /** An address that may not have an account yet. */
  | { address: string }

/** The facts for each mail: names and instants, never a value or the error text of another system. */
export interface NoticeFacts {
  invitation: { inviteId: string; orgName: string; until: string; invitedBy: string | null; hasCode: boolean }
  access_requested: { requestId: string; person: string; environments: string[]; reason: string | null }
  access_decided: { status: string; environments: string[]; closedBy: string; answer: string | null }
  /** `task` is what is to be done, such as `re-key shop/production`. */
  offboarding_row_handed: {
    offboardingId: string
    person: string
    task: string
    by: string
    note: string | null
    reminder: boolean
  }
  change_request_opened: ChangeFacts & {
    proposedBy: string | null
    note: string | null
    requiredApprovals: number | null
  }
  change_request_decided: ChangeFacts & { status: string; decidedBy: string | null; comment: string | null }
  protection_disabled: {
    environment: string
    environmentId: string
    by: string
    at: string
    ipAddress: string | null
    userAgent: string | null
  }
  honey_token_tripped: {
    tokenId: string
    placement: string | null
    at: string
    ipAddress: string | null
    userAgent: string | null
  }
  token_exposed: { tokenId: string; name: string; at: string; ipAddress: string | null; userAgent: string | null }
  keys_replaced: { person: string; environments: number }
  rotation_failed: { environment: string; secretName: string }
  secret_expiring: { environment: string; secretName: string; expiresAt: string; hasExpired: boolean }
  sync_failed: { connection: string; cause: 'credential' | 'failure' }
  lease_orphaned: { leaseId: string; target: string; account: string | null }
  lease_target_paused: { target: string; reason: string }
  log_sink_disabled: { endpoint: string; error: string }
  vault_webhook_disabled: { host: string; error: string }
  cli_session_approved: {
    deviceLabel: string
    client: string | null
    ipAddress: string | null
    at: string
    expiresAt: string
  }
  recovery_opened: { requestId: string; drill: boolean; target: string | null; reason: string | null }
  recovery_completed: { requestId: string; target: string; environments: number }
}

interface ChangeFacts {
  changeRequestId: string
  environment: string
  /** Null for a re-key. */
  secretName: string | null
  /** How many other secrets the same proposal changes. */
  others: number
}
