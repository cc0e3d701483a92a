import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'
import type { AuditContext } from './search.ts'

export const feature: Descriptor<AuditContext> = {
  routes,
  archive: { nothing: 'the export writes the audit log itself, with its proof' },
}
