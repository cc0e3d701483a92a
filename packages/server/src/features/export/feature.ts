import type { Descriptor } from '../descriptor.ts'
import type { ExportContext } from './context.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<ExportContext> = {
  routes,
  archive: { nothing: 'reads the tables of other features' },
}
