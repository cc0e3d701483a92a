import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      { name: 'teams', table: 'teams', columns: 'id, name, created_at, updated_at', order: 'id' },
      {
        name: 'teamMembers',
        table: 'team_members',
        columns: 'team_id, user_id, created_at',
        order: 'team_id, user_id',
      },
      {
        name: 'teamEnvironments',
        table: 'team_environments',
        columns: 'team_id, environment_id, created_at',
        order: 'team_id, environment_id',
      },
      {
        name: 'keyExclusions',
        table: 'key_exclusions',
        columns: 'environment_id, user_id',
        order: 'environment_id, user_id',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from teams where org_id = $1',
}
