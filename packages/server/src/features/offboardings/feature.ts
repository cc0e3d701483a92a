import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'offboardings',
        table: 'offboardings',
        columns: `id, user_id, email, name, revoked, started_by_type, started_by_id, started_at, finished_by_type,
          finished_by_id, finished_at`,
        order: 'id',
      },
      {
        name: 'offboardingRows',
        table: 'offboarding_rows',
        columns: `id, offboarding_id, kind, state, environment_id, label, via, secret_id, secret_name, base_version,
          shared_at, note, assignee_id, changed_by_type, changed_by_id, changed_at`,
        order: 'id',
      },
    ],
    withheld: {},
  },
  notices: {
    'offboarding.row_handed': ({ facts: { assigneeId, ...facts } }) => ({
      type: 'offboarding_row_handed',
      to: { userId: assigneeId },
      facts,
    }),
  },
  auditNames: 'select id, coalesce(name, email, user_id) from offboardings where org_id = $1',
}
