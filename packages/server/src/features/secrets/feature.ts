import type { Descriptor } from '../descriptor.ts'
import type { SecretsContext } from './context.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<SecretsContext> = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'secrets',
        table: 'secrets',
        columns: `id, environment_id, name, former_names, current_version, ciphertext, key_since_version, created_at,
          updated_at`,
        order: 'id',
      },
      {
        name: 'secretVersions',
        table: 'secret_versions',
        columns: `secret_id, version, former_name, ciphertext, created_by_type, created_by_id, restored_from_version,
          created_at`,
        order: 'secret_id, version',
      },
      {
        name: 'deletedSecrets',
        table: 'deleted_secrets',
        columns: `id, environment_id, name, former_names, current_version, key_since_version, created_at, deleted_by_type,
          deleted_by_id, deleted_at, kept_until`,
        order: 'id',
      },
      {
        name: 'deletedSecretVersions',
        table: 'deleted_secret_versions',
        columns: `secret_id, version, former_name, ciphertext, created_by_type, created_by_id, restored_from_version,
          created_at`,
        order: 'secret_id, version',
      },
    ],
    withheld: {},
  },
  auditNames: `select id, name from secrets where org_id = $1
    union all select id, name from deleted_secrets where org_id = $1`,
  usage: { secrets: 'select count(*) from secrets where org_id = $1' },
}
