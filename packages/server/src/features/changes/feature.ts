import type { Descriptor } from '../descriptor.ts'
import type { RoomContext } from '../secrets/room.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<RoomContext> = {
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
}
