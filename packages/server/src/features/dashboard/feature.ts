import type { Descriptor } from '../descriptor.ts'
import { rawRoutes } from './routes.ts'

export const feature: Descriptor = {
  rawRoutes,
  archive: { nothing: 'pages without data' },
}
