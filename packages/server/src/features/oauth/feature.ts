import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [],
    withheld: { machine_tokens: 'hashes of credentials of an hour' },
  },
}
