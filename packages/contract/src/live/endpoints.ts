import { Type } from 'typebox'
import { del, get, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Ok } from '../schema.ts'
import { Hello, LiveChange, Presence } from './schemas.ts'

const unaudited = `the call changes no stored data. The server remembers in memory who has the application open, for ${limits.presenceSeconds} seconds`

export const live = {
  events: get('/v1/orgs/:orgId/events', {
    summary:
      'Stream server-sent events about the changes that the caller may see, and about the people who have an application open. The stream begins with the event `hello`. After each `hello`, load your data again, because you may have missed events, and the server does not repeat them',
    mediaType: 'text/event-stream',
    responses: { 200: Type.Union([Hello, LiveChange, Presence]) },
  }),
  look: put('/v1/orgs/:orgId/apps/:appId/presence', {
    summary: `Show other people that you have an application open. The server shows this for ${limits.presenceSeconds} seconds after each call`,
    responses: { 200: Ok },
    unit: 'manual',
    unaudited,
  }),
  leave: del('/v1/orgs/:orgId/apps/:appId/presence', {
    summary: 'Stop showing that you have an application open',
    responses: { 200: Ok },
    unit: 'manual',
    unaudited,
  }),
}
