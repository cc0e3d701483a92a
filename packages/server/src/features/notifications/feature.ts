import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: { nothing: 'its rows belong to people, who are in several organizations' },
}
