import type { NotificationType } from '@skerry/contract/notifications/types'
import type { Event, EventOf } from '../../events/events.ts'
import type { EventType } from '../../events/types.ts'
import type { Facts } from './mails.ts'

/** A mail, before it is known who wants it. */
export type Notice = { [T in NotificationType]: { type: T; to: Audience; facts: Facts[T] } }[NotificationType]

type Audience =
  | { userId: string }
  /** Every owner and admin of the event's organization, but for the one whose doing it is. */
  | { adminsExcept: string | null }
  /** The admins of the event's organization, and the custodians, who hold the shares of its recovery key. */
  | 'adminsAndCustodians'
  /** An address, which may belong to nobody here yet. */
  | { address: string }

type Notices = { [E in EventType]?: (event: Event<E>) => Notice | null }

/** Who is mailed about what: a row per event that anybody is mailed about. */
const notices = {
  'invite.created': ({ facts: { inviteId, email, orgName, expiresAt } }) => ({
    type: 'invitation',
    to: { address: email },
    facts: { inviteId, orgName, until: expiresAt },
  }),
  'change_request.opened': ({ facts: { environment, secretName, others, proposedByType, proposedById } }) => ({
    type: 'change_request_opened',
    to: { adminsExcept: proposedByType === 'user' ? proposedById : null },
    facts: { environment, secretName, others },
  }),
  // A machine has no mailbox, and a person knows what that person did.
  'change_request.decided': ({
    facts: { environment, secretName, others, status, decidedById, proposedByType, proposedById },
  }) =>
    proposedByType === 'user' && proposedById !== decidedById
      ? {
          type: 'change_request_decided',
          to: { userId: proposedById },
          facts: { environment, secretName, others, status },
        }
      : null,
  'env.protection_disabled': ({ at, facts: { environment, by, ipAddress, userAgent } }) => ({
    type: 'protection_disabled',
    to: { adminsExcept: null },
    facts: { environment, by, at, ipAddress, userAgent },
  }),
  'honey_token.tripped': ({ facts }) => ({ type: 'honey_token_tripped', to: { adminsExcept: null }, facts }),
  'lease.orphaned': ({ facts }) => ({ type: 'lease_orphaned', to: { adminsExcept: null }, facts }),
  'lease_target.paused': ({ facts: { target, reason } }) => ({
    type: 'lease_target_paused',
    to: { adminsExcept: null },
    facts: { target, reason },
  }),
  'recovery_request.opened': ({ facts }) => ({ type: 'recovery_opened', to: 'adminsAndCustodians', facts }),
  'recovery_request.completed': ({ facts }) => ({ type: 'recovery_completed', to: 'adminsAndCustodians', facts }),
  'log_sink.disabled': ({ facts }) => ({ type: 'log_sink_disabled', to: { adminsExcept: null }, facts }),
  'vault.webhook.disabled': ({ facts: { host, error } }) => ({
    type: 'vault_webhook_disabled',
    to: { adminsExcept: null },
    facts: { host, error },
  }),
  'token.exposed': ({ facts }) => ({ type: 'token_exposed', to: { adminsExcept: null }, facts }),
  'user.keys_replaced': ({ facts: { userId, person, environments } }) => ({
    type: 'keys_replaced',
    to: { adminsExcept: userId },
    facts: { person, environments },
  }),
  'rotation.failed': ({ facts: { environment, secretName } }) => ({
    type: 'rotation_failed',
    to: { adminsExcept: null },
    facts: { environment, secretName },
  }),
  'sync.failed': ({ facts: { connection, cause } }) => ({
    type: 'sync_failed',
    to: { adminsExcept: null },
    facts: { connection, cause },
  }),
  'cli_session.approved': ({ at, facts: { userId, deviceLabel, client, ipAddress, expiresAt } }) => ({
    type: 'cli_session_approved',
    to: { userId },
    facts: { deviceLabel, client, ipAddress, at, expiresAt },
  }),
} satisfies Notices

export type Noticed = keyof typeof notices

export const noticed = Object.keys(notices) as Noticed[]

export const noticeOf = (event: EventOf<Noticed>): Notice | null =>
  (notices[event.type] as (event: EventOf<Noticed>) => Notice | null)(event)
