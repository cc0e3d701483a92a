import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      { name: 'applications', table: 'applications', columns: 'id, name, slug, created_at, updated_at', order: 'id' },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from applications where org_id = $1',
  usage: { apps: 'select count(*) from applications where org_id = $1' },
}
