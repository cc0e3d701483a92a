import { type NotificationType, notificationTypes } from '@skerry/contract/notifications'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { mail as mailJob } from './jobs.ts'
import { type Facts, letterOf } from './mails.ts'
import { isWantedAt, listAdminAddresses, listUserAddress } from './store.ts'

/** Any handler's input is one; a job gives its context and the handle of its transaction. */
interface Work {
  context: Context
  db: Sql
  /** The organization that the event is of, if it is of one. */
  org?: { id: string }
}

/** Mails a person about an event, in the transaction of the event, if the person wants to know and has an address. */
export async function notifyUser<T extends NotificationType>(
  work: Work,
  userId: string,
  type: T,
  facts: Facts[T],
): Promise<void> {
  const { byDefault } = notificationTypes[type]
  await mail(work, await listUserAddress(work.db, userId, type, byDefault, work.org?.id ?? null), type, facts)
}

/** The same for every owner and admin of the organization, but for the one whose doing it is. */
export async function notifyAdmins<T extends NotificationType>(
  work: Work & { org: { id: string } },
  type: T,
  facts: Facts[T],
  exceptUserId: string | null = null,
): Promise<void> {
  const { byDefault } = notificationTypes[type]
  await mail(work, await listAdminAddresses(work.db, work.org.id, type, byDefault, exceptUserId), type, facts)
}

/** The same for an address that may not be anybody's yet. */
export async function notifyAddress<T extends NotificationType>(
  work: Work,
  email: string,
  type: T,
  facts: Facts[T],
): Promise<void> {
  const isWanted = await isWantedAt(work.db, email, type, notificationTypes[type].byDefault)
  if (isWanted) await mail(work, [{ email, orgName: null }], type, facts)
}

async function mail<T extends NotificationType>(
  { context, db }: Work,
  recipients: { email: string; orgName: string | null }[],
  type: T,
  facts: Facts[T],
): Promise<void> {
  for (const { email, orgName } of recipients) {
    const letter = letterOf(type, facts, { baseUrl: context.config.baseUrl ?? '', orgName: orgName ?? '' })
    await context.queue.enqueue(db, mailJob, { to: email, ...letter })
  }
}
