import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { CliLoginCode, DisplayName, Id, Instant, Nullable, Ok, Strict } from '../schema.ts'

const CliLoginStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('approved'),
  Type.Literal('denied'),
  Type.Literal('expired'),
])

export const cliLogin = {
  create: post('/v1/cli-login', {
    summary:
      'Request a CLI session: the sign-in of a person with `skerry login` on one machine. The person then approves the request in a browser',
    surface: 'none',
    body: Strict({
      sessionId: { ...Id('cliSession'), description: 'The id of the new session, which the client chooses' },
      tokenHash: Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'SHA-256, in base64url, of the whole credential that the client later sends as `Bearer`',
      }),
      deviceLabel: { ...DisplayName, description: 'Name of the machine. The person sees the name before the approval' },
      client: Type.Optional({
        ...DisplayName,
        description: 'Name and version of the program that requests the session',
      }),
    }),
    responses: {
      201: Strict({
        code: CliLoginCode,
        verifyUrl: Type.String(),
        requestExpiresAt: Instant,
        pollIntervalSeconds: Type.Integer(),
      }),
    },
    refuses: ['conflict'],
    unaudited: 'the server does not know the person before the approval',
  }),
  poll: post('/v1/cli-login/poll', {
    summary: 'Get the state of a CLI sign-in: whether a person has approved or denied it',
    surface: 'none',
    body: Strict({ code: CliLoginCode }),
    responses: {
      200: Strict({
        status: CliLoginStatus,
        sessionId: Type.Optional(Id('cliSession')),
        email: Type.Optional(Nullable(Type.String())),
        expiresAt: Type.Optional(Instant),
      }),
    },
    refuses: ['not_found'],
    unaudited: 'this call only reads',
  }),
  get: get('/v1/cli-login/:code', {
    summary:
      'Get the CLI sign-in that a person should approve. The machine itself sent the texts `deviceLabel` and `client`, so they may be false',
    responses: {
      200: Strict({
        request: Strict({
          code: CliLoginCode,
          status: CliLoginStatus,
          deviceLabel: Type.String(),
          client: Nullable(Type.String()),
          ipAddress: Nullable(Type.String()),
          createdAt: Instant,
          requestExpiresAt: Instant,
        }),
      }),
    },
    refuses: ['forbidden', 'not_found'],
    unit: 'transaction',
    unaudited: 'this call changes only the count of tries',
  }),
  approve: post('/v1/cli-login/:code/approve', {
    summary: 'Approve a CLI session. The machine is then signed in as the caller',
    responses: { 200: Strict({ session: Strict({ id: Id('cliSession'), expiresAt: Instant }) }) },
    refuses: ['forbidden', 'mfa_required', 'not_found', 'conflict'],
    audits: ['cli_session.approved'],
  }),
  deny: post('/v1/cli-login/:code/deny', {
    summary: 'Deny a CLI session. The machine is not signed in',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['cli_session.denied'],
  }),
}
