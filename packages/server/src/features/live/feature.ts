import type { Descriptor } from '../descriptor.ts'
import type { LiveContext } from './context.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<LiveContext> = {
  routes,
  archive: { nothing: 'remembers open streams and presence in memory' },
}
