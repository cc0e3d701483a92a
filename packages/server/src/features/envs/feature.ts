import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'environments',
        table: 'environments',
        columns: `id, application_id, group_id, parent_environment_id, name, slug, expires_at, required_approvals,
          allow_self_approval, branch_manifest, created_at, updated_at`,
        // A branch comes after its parent.
        order: 'parent_environment_id nulls first, id',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from environments where org_id = $1',
  usage: {
    environments: 'select count(*) from environments where org_id = $1 and parent_environment_id is null',
  },
}
