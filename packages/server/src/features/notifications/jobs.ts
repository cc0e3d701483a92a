import type { NotificationType } from '@skerry/contract/notifications/types'
import type { NoticeFacts } from '../../events/notices.ts'
import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { type Mail, ordinaryMailsAtOnce } from '../../jobs/mail.ts'
import { idOf } from '../../jobs/schedule.ts'
import { mailInvitation } from '../sign-in/link-mail.ts'
import { letterOf, type Place } from './mails.ts'

/** With `inviteId`, the mail gets a link that accepts the invitation, if Skerry itself signs people in. */
interface Letter extends Mail {
  inviteId?: string | null
}

/** Retried for about half a day. */
export const mail = job<Letter, Context>(
  'mail',
  { retry: { limit: 12 }, concurrency: ordinaryMailsAtOnce },
  (context, { inviteId, ...letter }) =>
    inviteId ? mailInvitation(context, inviteId, letter) : context.mailer.send(letter),
)

export interface PendingNotice {
  to: string
  type: NotificationType
  facts: NoticeFacts[NotificationType]
  orgId: string | null
  orgName: string
  /** A notice of an earlier release has none. */
  orgSlug?: string | null
  eventId: string
}

/** The place that a mail links to. */
export const placeOf = ({ config }: Context, { orgName, orgSlug = null }: PendingNotice): Place => ({
  baseUrl: config.baseUrl ?? '',
  orgName,
  orgSlug,
})

/** A notice waits here for a minute, so that many notices of one kind to one person become one mail. */
export const gathering = job<PendingNotice, Context>(
  'mail.gather',
  { retry: { limit: 12 }, concurrency: 2, perKey: ({ to, type, orgId }) => `${to} ${type} ${orgId}` },
  gather,
)

export const jobs = [mail, gathering]

/** The first notice whose minute is over takes along all waiting notices of its kind. */
async function gather(context: Context, notice: PendingNotice): Promise<void> {
  const { to, type, eventId } = notice
  await context.db.transaction(async (tx) => {
    const others = await context.queue.takeWaiting(tx, gathering, notice)
    const facts = [notice, ...others].map((one) => one.facts)
    const letter = letterOf(type, facts, placeOf(context, notice))
    await context.queue.enqueue(tx, mail, { to, ...letter }, { id: idOf('gathered', eventId, to) })
  })
  context.queue.nudge(mail)
}
