import type { NotificationType } from '@skerry/contract/notification-types'
import type { Event, EventOf } from '../../events/events.ts'
import type { EventType } from '../../events/types.ts'
import type { Facts } from './mails.ts'

/** A mail, before it is known who wants it. */
export type Notice = { [T in NotificationType]: { type: T; to: Audience; facts: Facts[T] } }[NotificationType]

export type Audience =
  | { userId: string }
  /** Every owner and admin of the event's organization, but for the one whose doing it is. */
  | { adminsExcept: string | null }
  /** Who may not be anybody here yet. */
  | { address: string }

type Notices = { [E in EventType]?: (event: Event<E>) => Notice | null }

/** Who is mailed about what: a row per event that anybody is mailed about. */
const notices = {
  'invite.created': ({ facts: { email, orgName, expiresAt } }) => ({
    type: 'invitation',
    to: { address: email },
    facts: { orgName, until: expiresAt },
  }),
  'change_request.opened': ({ facts: { environment, secretName, proposedByType, proposedById } }) => ({
    type: 'change_request_opened',
    to: { adminsExcept: proposedByType === 'user' ? proposedById : null },
    facts: { environment, secretName },
  }),
  // A machine has no mailbox, and a person knows what that person did.
  'change_request.decided': ({
    facts: { environment, secretName, status, decidedById, proposedByType, proposedById },
  }) =>
    proposedByType === 'user' && proposedById !== decidedById
      ? { type: 'change_request_decided', to: { userId: proposedById }, facts: { environment, secretName, status } }
      : null,
  'honey_token.tripped': ({ facts }) => ({ type: 'honey_token_tripped', to: { adminsExcept: null }, facts }),
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
