import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'
import type { AuditContext } from './search.ts'

export const feature: Descriptor<AuditContext> = {
  routes,
  archive: { nothing: 'the export writes the audit log itself, with its proof' },
  usage: {
    audit_days: `select coalesce(extract(day from $2::timestamptz - min(created_at))::integer, 0)
                   from audit_entries where org_id = $1`,
  },
}
