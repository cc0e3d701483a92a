import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'
import type { AuditContext } from './search.ts'

export const feature: Descriptor<AuditContext> = {
  routes,
}
