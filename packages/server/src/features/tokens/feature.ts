import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'serviceTokens',
        table: 'service_tokens',
        columns: `id, name, role, environment_id, public_key_jwk, created_by_type, created_by_id, created_at, expires_at,
          expires_at_given, revoked_at`,
        order: 'id',
        withheld: { token_hash: 'a hash that signs somebody in', deleted_at: 'deleted tokens are left out' },
        // No hash has this form, so a restored token works only after its holder has registered it again.
        filled: { columns: 'token_hash', sql: `'unregistered ' || id` },
        // Decoys and tokens that were deleted for good are left out.
        where: 't.deleted_at is null',
      },
    ],
    withheld: { service_token_uses: 'notes of use', token_exposures: 'notes of mails' },
  },
  auditNames: 'select id, name from service_tokens where org_id = $1 and deleted_at is null',
  notices: {
    'token.exposed': ({ facts }) => ({ type: 'token_exposed', to: { adminsExcept: null }, facts }),
  },
  usage: {
    service_tokens: `select count(*) from service_tokens t where org_id = $1 and revoked_at is null and deleted_at is null
                        and (expires_at is null or expires_at > $2)
                        and not exists (select from honey_tokens h where h.org_id = t.org_id and h.token_id = t.id)`,
  },
}
