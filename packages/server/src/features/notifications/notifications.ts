import type { notifications } from '@skerry/contract/notifications/endpoints'
import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import type { Sql } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { upsertPreferences } from '../../model/people/preferences.ts'
import { listPreferences } from './store.ts'

interface Person {
  principal: UserPrincipal
}

type Prefs = Record<NotificationType, boolean>

export async function get({ db, principal }: In<typeof notifications.get, Person>): Out<typeof notifications.get> {
  return { prefs: await prefsOf(db, principal.id) }
}

export async function put(input: In<typeof notifications.put, Person>): Out<typeof notifications.put> {
  const { db, principal, body } = input
  const given = Object.entries(body.prefs) as [NotificationType, boolean][]
  if (given.length > 0) {
    await upsertPreferences(
      db,
      principal.id,
      given.map(([type]) => type),
      given.map(([, wanted]) => wanted),
    )
    await auditUser(input, principal.id, 'user.notifications_updated', principal.id, { prefs: body.prefs })
  }
  return { prefs: await prefsOf(db, principal.id) }
}

/** A stored type that no longer exists is not shown. */
async function prefsOf(db: Sql, userId: string): Promise<Prefs> {
  const decided = new Map((await listPreferences(db, userId)).map(({ type, wanted }) => [type, wanted]))
  const rows = Object.entries(notificationTypes).map(([type, { byDefault }]) => [type, decided.get(type) ?? byDefault])
  return Object.fromEntries(rows)
}
