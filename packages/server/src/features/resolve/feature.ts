import type { Descriptor } from '../descriptor.ts'
import type { ResolveContext } from './cache.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<ResolveContext> = {
  routes,
  archive: {
    sections: [],
    withheld: { cache_invalidations: 'tells other processes of this server what to forget' },
  },
}
