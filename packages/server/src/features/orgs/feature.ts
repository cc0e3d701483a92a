import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: { nothing: 'the export writes the section `organization` itself' },
}
