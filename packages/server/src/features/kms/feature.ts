import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'kmsKeys',
        table: 'kms_keys',
        columns: `id, name, purpose, spec, application_id, group_id, current_version, disabled_at, deleted_at, created_at,
          updated_at`,
        order: 'id',
      },
      {
        name: 'kmsKeyVersions',
        table: 'kms_key_versions',
        columns: 'key_id, version, public_key_jwk, created_at',
        order: 'key_id, version',
      },
      {
        name: 'kmsGrants',
        table: 'kms_grants',
        columns:
          'key_id, version, principal_type, principal_id, wrapped_key, granted_by_type, granted_by_id, created_at',
        order: 'key_id, version, principal_type, principal_id',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from kms_keys where org_id = $1 and deleted_at is null',
  usage: { 'kms.keys': 'select count(*) from kms_keys where org_id = $1 and deleted_at is null' },
}
