import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { Id, Strict } from '../schema.ts'
import { VaultCapture, VaultCaptured, VaultConnectView, VaultManageView } from './schemas.ts'

const surface = 'claim'
const oneView = Strict({ session: VaultConnectView })
const managed = Strict({ session: VaultManageView })

/** Endpoints for the browser of a person who opened a link. */
export const vaultConnect = {
  claim: post('/v1/vault/connect/claim', {
    surface: 'none',
    summary:
      'Exchange the token of a Connect link or manage link for a claim token. This works once for each link. The claim token is valid for 30 minutes',
    body: Strict({
      token: Type.String({ pattern: '^(?:vct|vmt)_[A-Za-z0-9_-]{43}$', description: 'The token of a link' }),
    }),
    responses: {
      200: Strict({
        claimToken: Type.String({ description: '`vcl_...`' }),
        session: Type.Union([VaultConnectView, VaultManageView]),
      }),
    },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.connect_session.claimed'],
  }),
  session: get('/v1/vault/connect/session', {
    surface,
    summary:
      'Get the provider to connect, the display settings of the project, and the executor’s keys for encryption. The call also works after the connect session was completed',
    responses: { 200: oneView },
    refuses: ['forbidden'],
  }),
  consent: post('/v1/vault/connect/consent', {
    surface,
    summary:
      'Record that the person agrees to the text of the provider. Before this call, the server accepts no credential',
    body: Strict({
      consentVersion: Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The version of the text that the page has shown',
      }),
    }),
    responses: { 200: oneView },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connect_session.consented'],
  }),
  submit: post('/v1/vault/connect/submit', {
    surface,
    summary: 'Store the credentials that the browser has encrypted. The call completes the connect session',
    body: VaultCapture,
    responses: { 200: VaultCaptured },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connection.created', 'vault.connection.reactivated', 'vault.credential.written'],
  }),
  cancel: post('/v1/vault/connect/cancel', {
    surface,
    summary: 'End the connect session, because the person does not want to connect an account',
    responses: { 200: oneView },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connect_session.cancelled'],
  }),
  manage: get('/v1/vault/connect/manage', {
    surface,
    summary: 'List the person’s own connections',
    responses: { 200: managed },
    refuses: ['forbidden'],
  }),
  revoke: post('/v1/vault/connect/manage/revoke', {
    surface,
    summary: 'Revoke one of the person’s own connections. You can repeat the call',
    body: Strict({ connectionId: Id('vaultConnection') }),
    responses: { 200: managed },
    refuses: ['forbidden', 'not_found'],
    audits: ['vault.connection.revoked'],
  }),
}
