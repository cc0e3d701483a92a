/**
 * Everything that is told of while it happens, and what is told: ids, names and instants, never a secret. What is added
 * here must stay readable for as long as an event of the release before may wait in a database.
 */
export interface EventFacts {
  'invite.created': { inviteId: string; email: string; orgName: string; expiresAt: string }
  'change_request.opened': ChangeRequestFacts
  /** Applied, rejected or superseded; `decidedById` is the principal that caused it. */
  'change_request.decided': ChangeRequestFacts & { status: string; decidedById: string }
  'honey_token.tripped': { tokenId: string; at: string; ipAddress: string | null; userAgent: string | null }
  'cli_session.approved': {
    sessionId: string
    userId: string
    deviceLabel: string
    client: string | null
    ipAddress: string | null
    expiresAt: string
  }
}

interface ChangeRequestFacts {
  changeRequestId: string
  environmentId: string
  /** Its slug. */
  environment: string
  secretName: string
  proposedByType: string
  proposedById: string
}

export type EventType = keyof EventFacts
