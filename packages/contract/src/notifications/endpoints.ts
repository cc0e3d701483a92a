import { Type } from 'typebox'
import { get, put } from '../endpoint.ts'
import { Strict } from '../schema.ts'
import { Prefs } from './schemas.ts'

const PartialPrefs = Type.Partial(Prefs, {
  additionalProperties: false,
  description: 'The preferences to change',
})

export const notifications = {
  get: get('/v1/me/notifications', {
    summary: 'List the events for which the caller gets mails',
    responses: { 200: Strict({ prefs: Prefs }) },
    refuses: ['forbidden'],
  }),
  put: put('/v1/me/notifications', {
    summary: 'Change some of the caller’s notification preferences',
    body: Strict({ prefs: PartialPrefs }),
    responses: { 200: Strict({ prefs: Prefs }) },
    refuses: ['forbidden'],
    audits: ['user.notifications_updated'],
  }),
}
