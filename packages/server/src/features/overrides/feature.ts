import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      {
        name: 'overrides',
        table: 'overrides',
        columns: 'id, environment_id, user_id, wrapped_key, ciphertext, revision, created_at, updated_at',
        order: 'id',
      },
    ],
    withheld: {},
  },
}
