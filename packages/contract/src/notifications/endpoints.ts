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
    summary: 'List the kinds of events, each with whether the caller gets a mail about it',
    responses: { 200: Strict({ prefs: Prefs }) },
    refuses: ['forbidden'],
  }),
  put: put('/v1/me/notifications', {
    summary: 'Change for which events the caller gets a mail. Events that the body leaves out do not change',
    body: Strict({ prefs: PartialPrefs }),
    responses: { 200: Strict({ prefs: Prefs }) },
    refuses: ['forbidden'],
    audits: ['user.notifications_updated'],
  }),
}
