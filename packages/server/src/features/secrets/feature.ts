import type { Descriptor } from '../descriptor.ts'
import type { SecretsContext } from './context.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<SecretsContext> = {
  routes,
  archive: {
    sections: [
      {
        name: 'secrets',
        table: 'secrets',
        columns: 'id, environment_id, name, current_version, ciphertext, key_since_version, created_at, updated_at',
        order: 'id',
      },
      {
        name: 'secretVersions',
        table: 'secret_versions',
        columns: 'secret_id, version, ciphertext, created_by_type, created_by_id, restored_from_version, created_at',
        order: 'secret_id, version',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from secrets where org_id = $1',
  usage: { secrets: 'select count(*) from secrets where org_id = $1' },
}
