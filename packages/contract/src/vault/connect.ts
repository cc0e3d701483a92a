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
      'Exchange the token of a link for a claim token, with which the person’s browser makes the next calls. A person connects an account with a Connect link, and sees their connections with a manage link. Each link works once. The claim token is valid for 30 minutes',
    body: Strict({
      token: Type.String({ pattern: '^(?:vct|vmt)_[A-Za-z0-9_-]{43}$', description: 'The token of a link' }),
    }),
    responses: {
      200: Strict({
        claimToken: Type.String({ description: 'The claim token: `vcl_...`' }),
        session: Type.Union([VaultConnectView, VaultManageView]),
      }),
    },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.connect_session.claimed'],
  }),
  session: get('/v1/vault/connect/session', {
    surface,
    summary:
      'Get the connect session of a Connect link: the provider to connect, the display settings of the project, and the executor’s public keys. The call also works after the person has connected the account',
    responses: { 200: oneView },
    refuses: ['forbidden'],
  }),
  consent: post('/v1/vault/connect/consent', {
    surface,
    summary:
      'Record that the person agrees to the consent text, which says what the product will do with the account. Before this call, the server accepts no credential',
    body: Strict({
      consentVersion: Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'The version of the consent text that the page has shown',
      }),
    }),
    responses: { 200: oneView },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connect_session.consented'],
  }),
  submit: post('/v1/vault/connect/submit', {
    surface,
    summary:
      'Store the credentials of the person’s account, which the browser has encrypted for the executor. This connects the account, and ends the connect session',
    body: VaultCapture,
    responses: { 200: VaultCaptured },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connection.created', 'vault.connection.reactivated', 'vault.credential.written'],
  }),
  cancel: post('/v1/vault/connect/cancel', {
    surface,
    summary:
      'Cancel a Connect link, because the person does not want to connect an account. The link then no longer works',
    responses: { 200: oneView },
    refuses: ['forbidden', 'not_found', 'conflict'],
    audits: ['vault.connect_session.cancelled'],
  }),
  manage: get('/v1/vault/connect/manage', {
    surface,
    summary: 'List the person’s own connections: the accounts that they have connected to the product',
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
