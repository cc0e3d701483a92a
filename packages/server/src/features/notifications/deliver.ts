import { notificationTypes } from '@skerry/contract/notifications/types'
import type { Sql, Tx } from '../../db/database.ts'
import { type EventOf, type Subscriber, subscriber } from '../../events/events.ts'
import type { Notice, Notices } from '../../events/notices.ts'
import type { EventType } from '../../events/types.ts'
import type { Context } from '../../http/context.ts'
import { idOf } from '../../jobs/schedule.ts'
import { gathering, mail, type PendingNotice, placeOf } from './jobs.ts'
import { isGathered, isUrgent, letterOf } from './mails.ts'
import { isWantedAt, listAdminAddresses, listPartyAddresses, listUserAddress, type Recipient } from './store.ts'

/** Subscribes to every event that becomes a notice. */
export const mailNotices = (notices: Notices): Subscriber<Context> =>
  subscriber<EventType, Context>('notifications', Object.keys(notices) as EventType[], (context, event) =>
    deliver(context, event, noticeOf(notices, event)),
  )

const noticeOf = (notices: Notices, event: EventOf<EventType>): Notice | null =>
  (notices[event.type] as (event: EventOf<EventType>) => Notice | null)(event)

/** Long enough for the changes that a script makes in one go, and short enough for a person who waits for a review. */
const gatherSeconds = 60

/** Mails an event to everyone whom it concerns, who wants this type and who has an address. */
async function deliver(context: Context, event: EventOf<EventType>, notice: Notice | null): Promise<void> {
  if (!notice) return
  await context.db.transaction(async (tx) => {
    for (const { email: to, orgName, orgSlug } of await listRecipients(tx, event.orgId, notice)) {
      const { type, facts } = notice
      const { id: eventId, orgId } = event
      await post(context, tx, { to, type, facts, orgId, orgName: orgName ?? '', orgSlug, eventId })
    }
  })
  context.queue.nudge(mail)
}

/** Mails a notice now, or together with others of its kind. The ids prevent a second mail about one event. */
async function post(context: Context, tx: Tx, notice: PendingNotice): Promise<void> {
  const id = idOf(notice.eventId, notice.to)
  if (isGathered(notice.type))
    return context.queue.enqueue(tx, gathering, notice, { id, startAfterSeconds: gatherSeconds })
  const letter = { to: notice.to, ...letterOf(notice.type, [notice.facts], placeOf(context, notice)) }
  await context.queue.enqueue(tx, mail, letter, { id, urgent: isUrgent(notice.type) })
}

function listRecipients(db: Sql, orgId: string | null, { type, to }: Notice): Promise<Recipient[]> {
  const { byDefault } = notificationTypes[type]
  if (to === 'adminsAndCustodians')
    return orgId === null ? Promise.resolve([]) : listPartyAddresses(db, orgId, type, byDefault)
  if ('userId' in to) return listUserAddress(db, to.userId, type, byDefault, orgId)
  if ('address' in to) return listAddress(db, to.address, type, byDefault)
  return orgId === null ? Promise.resolve([]) : listAdminAddresses(db, orgId, type, byDefault, to.adminsExcept)
}

const listAddress = async (db: Sql, email: string, type: string, byDefault: boolean): Promise<Recipient[]> =>
  (await isWantedAt(db, email, type, byDefault)) ? [{ email, orgName: null, orgSlug: null }] : []
