import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      { name: 'groups', table: 'groups', columns: 'id, name, slug, created_at, updated_at', order: 'id' },
      {
        name: 'compositions',
        table: 'compositions',
        columns: 'environment_id, group_id, position',
        order: 'environment_id, group_id',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from groups where org_id = $1',
}
