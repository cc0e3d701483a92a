import { Type } from 'typebox'
import { del, get } from '../endpoint.ts'
import { Id, Nullable, Ok, Strict } from '../schema.ts'
import { WebSession } from './schemas.ts'

export const sessions = {
  list: get('/v1/me/sessions', {
    summary: 'List the caller’s active browser sessions, newest first',
    responses: {
      200: Strict({ sessions: Type.Array(WebSession), currentSessionId: Nullable(Id('session')) }),
    },
    refuses: ['forbidden'],
  }),
  end: del('/v1/me/sessions/:webSessionId', {
    summary: 'End a browser session. Afterwards, the server refuses the JWT (the access token) of this session',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['session.ended'],
  }),
}
