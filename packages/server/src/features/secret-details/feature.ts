import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'secretDetails',
        table: 'secret_details',
        columns: `environment_id, name, sealed, owner_id, expires_at, not_needed, revision, updated_by_type,
          updated_by_id, updated_at`,
        order: 'environment_id, name',
        withheld: { reminders: 'is about mail that this server sent' },
      },
    ],
    withheld: {},
  },
  notices: {
    'secret.expiring': ({ facts: { environment, secretName, ownerId, expiresAt, hasExpired } }) => ({
      type: 'secret_expiring',
      to: ownerId === null ? { adminsExcept: null } : { userId: ownerId },
      facts: { environment, secretName, expiresAt, hasExpired },
    }),
  },
}
