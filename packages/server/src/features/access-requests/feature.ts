import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'accessRequests',
        table: 'access_requests',
        columns:
          'id, user_id, reason, for_seconds, status, created_at, expires_at, closed_at, closed_by_type, closed_by_id, answer',
        order: 'id',
      },
      {
        name: 'accessRequestEnvironments',
        table: 'access_request_environments',
        columns: 'request_id, environment_id',
        order: 'request_id, environment_id',
      },
    ],
    withheld: {},
  },
  notices: {
    'access_request.opened': ({ facts: { requestId, userId, person, environments, reason } }) => ({
      type: 'access_requested',
      to: { adminsExcept: userId },
      facts: { requestId, person, environments, reason },
    }),
    'access_request.closed': ({ facts: { userId, status, environments, closedBy, answer } }) => ({
      type: 'access_decided',
      to: { userId },
      facts: { status, environments, closedBy, answer },
    }),
  },
}
