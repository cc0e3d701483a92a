import type { Descriptor } from '../descriptor.ts'
import type { QuotaContext } from '../secrets/quota-cache.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<QuotaContext> = {
  routes,
  archive: {
    sections: [
      {
        name: 'changeRequests',
        table: 'change_requests',
        columns: `id, environment_id, secret_name, action, ciphertext, restore_version, base_secret_id, base_version, note,
          proposed_by_type, proposed_by_id, required_approvals, allow_self_approval, status, created_at, closed_at, group_id,
          group_size`,
        order: 'id',
      },
      {
        name: 'changeReviews',
        table: 'change_reviews',
        columns: 'id, change_request_id, reviewer_id, decision, comment, created_at',
        order: 'id',
      },
    ],
    withheld: {},
  },
  notices: {
    'change_request.opened': ({ facts: { environment, secretName, others, proposedByType, proposedById } }) => ({
      type: 'change_request_opened',
      to: { adminsExcept: proposedByType === 'user' ? proposedById : null },
      facts: { environment, secretName, others },
    }),
    // A machine has no mailbox. People are not mailed about their own decisions.
    'change_request.decided': ({
      facts: { environment, secretName, others, status, decidedById, proposedByType, proposedById },
    }) =>
      proposedByType === 'user' && proposedById !== decidedById
        ? {
            type: 'change_request_decided',
            to: { userId: proposedById },
            facts: { environment, secretName, others, status },
          }
        : null,
    'env.protection_disabled': ({ at, facts: { environment, by, ipAddress, userAgent } }) => ({
      type: 'protection_disabled',
      to: { adminsExcept: null },
      facts: { environment, by, at, ipAddress, userAgent },
    }),
  },
}
