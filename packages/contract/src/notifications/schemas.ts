import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import { type NotificationType, notificationTypes } from './types.ts'

export const Prefs = Strict(
  Object.fromEntries(Object.keys(notificationTypes).map((type) => [type, Type.Boolean()])) as Record<
    NotificationType,
    ReturnType<typeof Type.Boolean>
  >,
)
