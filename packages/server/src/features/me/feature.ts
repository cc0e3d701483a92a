import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: { nothing: 'the export writes the section `users` itself' },
  notices: {
    'user.keys_replaced': ({ facts: { userId, person, environments } }) => ({
      type: 'keys_replaced',
      to: { adminsExcept: userId },
      facts: { person, environments },
    }),
  },
}
