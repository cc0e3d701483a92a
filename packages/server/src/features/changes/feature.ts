import type { EventFacts } from '../../events/types.ts'
import type { Descriptor } from '../descriptor.ts'
import type { QuotaContext } from '../secrets/quota-cache.ts'
import { routes } from './routes.ts'

/** The change that a mail is about. */
const changeIn = (facts: EventFacts['change_request.opened']) => ({
  changeRequestId: facts.changeRequestId,
  environment: facts.environment,
  secretName: facts.secretName,
  others: facts.others,
})

export const feature: Descriptor<QuotaContext> = {
  routes,
  archive: {
    sections: [
      {
        name: 'changeRequests',
        table: 'change_requests',
        columns: `id, environment_id, secret_name, action, ciphertext, restore_version, base_secret_id, base_version, note, keep_for,
          deleted_secret_id, proposed_by_type, proposed_by_id, required_approvals, allow_self_approval, status, created_at, closed_at, group_id,
          group_size, base_state`,
        order: 'id',
      },
      {
        name: 'changeReviews',
        table: 'change_reviews',
        columns: 'id, change_request_id, reviewer_id, decision, comment, created_at',
        order: 'id',
      },
      {
        name: 'proposedRekeys',
        table: 'proposed_rekeys',
        columns: 'change_request_id, part, body',
        order: 'change_request_id, part',
      },
    ],
    withheld: {},
  },
  notices: {
    'change_request.opened': ({ facts }) => ({
      type: 'change_request_opened',
      to: { adminsExcept: facts.proposedByType === 'user' ? facts.proposedById : null },
      facts: {
        ...changeIn(facts),
        proposedBy: facts.proposedBy ?? null,
        note: facts.note ?? null,
        requiredApprovals: facts.requiredApprovals ?? null,
      },
    }),
    // A machine has no mailbox. People are not mailed about their own decisions.
    'change_request.decided': ({ facts }) =>
      facts.proposedByType === 'user' && facts.proposedById !== facts.decidedById
        ? {
            type: 'change_request_decided',
            to: { userId: facts.proposedById },
            facts: {
              ...changeIn(facts),
              status: facts.status,
              decidedBy: facts.decidedBy ?? null,
              comment: facts.comment ?? null,
            },
          }
        : null,
    'env.protection_disabled': ({ at, facts: { environment, by, ipAddress, userAgent } }) => ({
      type: 'protection_disabled',
      to: { adminsExcept: null },
      facts: { environment, by, at, ipAddress, userAgent },
    }),
  },
}
