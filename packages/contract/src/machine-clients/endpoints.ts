import { Type } from 'typebox'
import { del, get, post } from '../endpoint.ts'
import { DisplayName, NextCursor, Ok, Page, Strict } from '../schema.ts'
import { MachineClient } from './schemas.ts'

const WithSecret = Strict({
  client: MachineClient,
  clientSecret: Type.String({ description: 'The server shows the secret only in this answer' }),
})

/** Credentials that administer the organization but have no key. The first one comes from signup. */
export const machineClients = {
  list: get('/v1/orgs/:orgId/clients', {
    summary: 'List machine clients, including revoked ones. The answer does not have their client secrets',
    query: Page,
    responses: { 200: Strict({ clients: Type.Array(MachineClient), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/clients', {
    summary:
      'Make a machine client: a program that can manage the organization through the API, but has no keys. The server shows the secret of the machine client only in this answer',
    body: Strict({ name: DisplayName }),
    responses: { 201: WithSecret },
    audits: ['machine_client.created'],
  }),
  renewSecret: post('/v1/orgs/:orgId/clients/:clientId/secret', {
    summary:
      'Give a machine client a new secret. The old secret, and all access tokens that were made with it, stop working at once',
    responses: { 200: WithSecret },
    refuses: ['conflict'],
    audits: ['machine_client.secret_renewed'],
  }),
  revoke: del('/v1/orgs/:orgId/clients/:clientId', {
    summary: 'Revoke a machine client and its access tokens. You can repeat the call',
    responses: { 200: Ok },
    audits: ['machine_client.revoked'],
  }),
}
