import { Type } from 'typebox'
import { del, get } from '../endpoint.ts'
import { Id, Instant, NextCursor, Nullable, Ok, Page, Strict } from '../schema.ts'

const CliSession = Strict({
  id: Id('cliSession'),
  deviceLabel: Type.String(),
  client: Nullable(Type.String()),
  ipAddress: Nullable(Type.String({ description: 'IP address of the machine that requested the session' })),
  createdAt: Instant,
  lastUsedAt: Nullable(Instant),
  expiresAt: Instant,
  revokedAt: Nullable(Instant),
})

export const cliSessions = {
  list: get('/v1/me/cli-sessions', {
    summary: 'List the caller’s CLI sessions, including revoked and expired ones, newest first',
    query: Page,
    responses: {
      200: Strict({
        sessions: Type.Array(CliSession),
        currentSessionId: Nullable(Id('cliSession')),
        nextCursor: NextCursor,
      }),
    },
    refuses: ['forbidden'],
  }),
  revoke: del('/v1/me/cli-sessions/:cliSessionId', {
    summary:
      'Revoke a CLI session. Afterwards, the server refuses the credential of this session. You can repeat the call',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['cli_session.revoked'],
  }),
}
