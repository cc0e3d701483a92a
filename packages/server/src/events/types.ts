import type { VaultConnection } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'

/**
 * Everything that is told of while it happens, and what is told: ids, names and instants, never a secret. What is added
 * here must stay readable for as long as an event of the release before may wait in a database.
 */
export interface EventFacts {
  'vault.connection.ready': ConnectionFacts
  'vault.connection.reauth_required': ConnectionFacts
  'vault.connection.revoked': ConnectionFacts
  /** After many failures in a row; `host` is that of its URL. */
  'vault.webhook.disabled': { webhookId: string; host: string; error: string }
  'invite.created': { inviteId: string; email: string; orgName: string; expiresAt: string }
  'change_request.opened': ChangeRequestFacts
  /** Applied, rejected or superseded; `decidedById` is the principal that caused it. */
  'change_request.decided': ChangeRequestFacts & { status: string; decidedById: string }
  'env.protection_disabled': {
    environmentId: string
    /** Its slug. */
    environment: string
    by: string
    ipAddress: string | null
    userAgent: string | null
  }
  /** In one organization of the person, with how many of its environments they can no longer read. */
  'user.keys_replaced': { userId: string; person: string; environments: number }
  'honey_token.tripped': { tokenId: string; at: string; ipAddress: string | null; userAgent: string | null }
  /** Given up: `account` may still be on the target. */
  'lease.orphaned': { leaseId: string; target: string; account: string | null }
  /** `target` is its name. */
  'lease_target.paused': { targetId: string; target: string; reason: string }
  /** `targetId` is null for a drill. */
  'recovery_request.opened': { requestId: string; drill: boolean; targetId: string | null; reason: string | null }
  'recovery_request.completed': { requestId: string; targetId: string; environments: number }
  /** Sent no more, because the collector refused what it was sent. */
  'log_sink.disabled': { endpoint: string; error: string }
  'token.exposed': { tokenId: string; name: string; at: string; ipAddress: string | null; userAgent: string | null }
  /** For the third time in a row; `environment` is its slug. */
  'rotation.failed': { rotationId: string; environmentId: string; environment: string; secretName: string }
  /** Several times in a row. */
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

/** The connection as it was then: its products are told the same, however late. */
interface ConnectionFacts {
  projectId: string
  connection: Static<typeof VaultConnection>
}

interface ChangeRequestFacts {
  changeRequestId: string
  environmentId: string
  /** Its slug. */
  environment: string
  secretName: string
  /** How many changes of other secrets were proposed with it, and are decided with it. */
  others: number
  proposedByType: string
  proposedById: string
}

export type EventType = keyof EventFacts
