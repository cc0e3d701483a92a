import { Type } from 'typebox'
import { post } from '../endpoint.ts'
import { Organization } from '../orgs/schemas.ts'
import { DisplayName, Slug, Strict } from '../schema.ts'

export const signup = {
  create: post('/v1/signup', {
    summary: 'Create an organization without members, and a machine client that can manage it',
    surface: 'none',
    body: Strict({
      orgName: DisplayName,
      orgSlug: Slug,
      clientName: Type.Optional({ ...DisplayName, description: 'Name of the machine client. Default: `bootstrap`' }),
    }),
    responses: {
      201: Strict({
        org: Organization,
        m2m: Strict({
          clientId: Type.String(),
          clientSecret: Type.String({ description: 'The server shows the secret only in this answer' }),
        }),
      }),
    },
    refuses: ['forbidden', 'conflict'],
    audits: ['org.created', 'machine_client.created'],
  }),
}
