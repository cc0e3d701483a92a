import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import { type NotificationType, notificationTypes } from './types.ts'

export const Prefs = Strict(
  Object.fromEntries(
    Object.entries(notificationTypes).map(([type, { when }]) => [
      type,
      Type.Boolean({ description: `True if you get a mail when ${when}` }),
    ]),
  ) as Record<NotificationType, ReturnType<typeof Type.Boolean>>,
)
