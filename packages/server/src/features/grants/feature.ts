import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'keyGrants',
        table: 'key_grants',
        columns:
          'id, environment_id, principal_type, principal_id, wrapped_dek, of_team, granted_by_type, granted_by_id, created_at, ends_at',
        order: 'id',
      },
      {
        name: 'plannedGrants',
        table: 'planned_grants',
        columns: 'environment_id, user_id, created_at',
        order: 'environment_id, user_id',
      },
    ],
    withheld: {
      principals: 'follows from members and tokens, by triggers',
      server_keypairs: 'private halves are sealed under the key of this server',
    },
  },
}
