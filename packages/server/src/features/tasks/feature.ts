import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [],
    withheld: {
      agent_tasks: 'credentials of hours, by their hashes',
      agent_activity: 'counts of 90 days; the proxies report anew',
    },
  },
}
