import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { rawRoutes, routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  rawRoutes,
  jobs,
  archive: { nothing: 'its rows belong to people, who are in several organizations' },
}
