import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'recoveries',
        table: 'recoveries',
        columns: 'recovery_public_key_jwk, threshold, shares, created_at, rotated_at, last_drill_at',
        order: 'org_id',
      },
      {
        name: 'recoveryCustodians',
        table: 'recovery_custodians',
        columns: 'user_id, share_index, wrapped_share',
        order: 'user_id',
      },
      {
        name: 'recoveryGrants',
        table: 'recovery_grants',
        columns: 'environment_id, wrapped_dek, created_at',
        order: 'environment_id',
      },
      {
        name: 'recoveryRequests',
        table: 'recovery_requests',
        columns: `id, status, drill, target_public_key_jwk, target_type, target_id, reason, threshold, requested_by_type,
          requested_by_id, created_at, expires_at`,
        order: 'id',
      },
      {
        name: 'recoveryContributions',
        table: 'recovery_contributions',
        columns: 'request_id, share_index, user_id, contributed_share, created_at',
        order: 'request_id, share_index',
      },
    ],
    withheld: {},
  },
  notices: {
    'recovery_request.opened': ({ facts: { requestId, drill, targetId, target, reason } }) => ({
      type: 'recovery_opened',
      to: 'adminsAndCustodians',
      facts: { requestId, drill, target: target ?? targetId, reason },
    }),
    'recovery_request.completed': ({ facts: { requestId, targetId, target, environments } }) => ({
      type: 'recovery_completed',
      to: 'adminsAndCustodians',
      facts: { requestId, target: target ?? targetId, environments },
    }),
  },
}
