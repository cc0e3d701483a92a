import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: { nothing: 'its rows belong to people, who are in several organizations' },
  notices: {
    'cli_session.approved': ({ at, facts: { userId, deviceLabel, client, ipAddress, expiresAt } }) => ({
      type: 'cli_session_approved',
      to: { userId },
      facts: { deviceLabel, client, ipAddress, at, expiresAt },
    }),
  },
}
