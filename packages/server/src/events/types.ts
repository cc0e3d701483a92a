import type { VaultConnection } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'

/**
 * All event types and their facts: ids, names and instants, never a secret. Events of the previous release may still
 * wait in the database, so changes must keep them readable.
 */
export interface EventFacts {
  'vault.connection.ready': ConnectionFacts
  'vault.connection.reauth_required': ConnectionFacts
  'vault.connection.revoked': ConnectionFacts
  /** Emitted after many failures in a row; `host` is the host of its URL. */
  'vault.webhook.disabled': { webhookId: string; host: string; error: string }
  'invite.created': InvitationFacts
  'invite.resent': InvitationFacts
  /** `person` is the name of the member who asks; `environments` are labels. */
  'access_request.opened': {
    requestId: string
    userId: string
    person: string
    environments: string[]
    reason: string | null
  }
  /** `status` is granted or declined. `environments` are the labels that were granted, or that stay without a key. */
  'access_request.closed': {
    requestId: string
    userId: string
    status: string
    environments: string[]
    closedBy: string
    answer: string | null
  }
  /** A row of an offboarding was handed to an admin, or they are reminded of it. `person` is the one who leaves. */
  'offboarding.row_handed': {
    offboardingId: string
    assigneeId: string
    person: string
    task: string
    by: string
    note: string | null
    reminder: boolean
  }
  'change_request.opened': ChangeRequestFacts & {
    /** The name of the proposer. */
    proposedBy?: string
    note?: string | null
    requiredApprovals?: number
  }
  /**
   * `status` is applied, rejected or superseded; `decidedById` is the principal that caused it. `decidedBy` has the names
   * of those whose votes decided, and `comment` is the last one's.
   */
  'change_request.decided': ChangeRequestFacts & {
    status: string
    decidedById: string
    decidedBy?: string | null
    comment?: string | null
  }
  'env.protection_disabled': {
    environmentId: string
    /** Its label: `web/production`. */
    environment: string
    by: string
    ipAddress: string | null
    userAgent: string | null
  }
  /** Emitted for each organization of the person, with how many of its environments they can no longer read. */
  'user.keys_replaced': { userId: string; person: string; environments: number }
  /** `placement` is what the admin noted about where the decoy is planted. */
  'honey_token.tripped': {
    tokenId: string
    placement?: string | null
    at: string
    ipAddress: string | null
    userAgent: string | null
  }
  /** The lease could not be ended: `account` may still exist on the target. */
  'lease.orphaned': { leaseId: string; target: string; account: string | null }
  /** `target` is the name of the target. */
  'lease_target.paused': { targetId: string; target: string; reason: string }
  /** `targetId` is null for a drill; `target` is its name. */
  'recovery_request.opened': {
    requestId: string
    drill: boolean
    targetId: string | null
    target?: string | null
    reason: string | null
  }
  'recovery_request.completed': { requestId: string; targetId: string; target?: string; environments: number }
  /** The server stopped sending, because the collector refused the entries. */
  'log_sink.disabled': { endpoint: string; error: string }
  'token.exposed': { tokenId: string; name: string; at: string; ipAddress: string | null; userAgent: string | null }
  /** Emitted after the third failure in a row; `environment` is its label. */
  'rotation.failed': { rotationId: string; environmentId: string; environment: string; secretName: string }
  /** Emitted 14 days before a secret expires, and when it has expired; `environment` is its label. */
  'secret.expiring': {
    environmentId: string
    environment: string
    secretName: string
    ownerId: string | null
    expiresAt: string
    hasExpired: boolean
  }
  /** Emitted after several failures in a row. */
  'sync.failed': { connectionId: string; connection: string; bindingId: string; cause: 'credential' | 'failure' }
  'cli_session.approved': {
    sessionId: string
    userId: string
    deviceLabel: string
    client: string | null
    ipAddress: string | null
    expiresAt: string
  }
}

export interface InvitationFacts {
  inviteId: string
  email: string
  orgName: string
  expiresAt: string
  invitedBy?: string
  /** Whether the inviter has a joining code for the person. An event of an earlier release does not say it. */
  hasCode?: boolean
}

/** The connection at the time of the event. Its products get the same data, however late the delivery is. */
interface ConnectionFacts {
  projectId: string
  connection: Static<typeof VaultConnection>
}

interface ChangeRequestFacts {
  changeRequestId: string
  environmentId: string
  /** Its label: `web/production`. */
  environment: string
  /** Null for a re-key, which is about the key. */
  secretName: string | null
  /** How many changes of other secrets belong to the same proposal, and are decided with it. */
  others: number
  proposedByType: string
  proposedById: string
}

export type EventType = keyof EventFacts
