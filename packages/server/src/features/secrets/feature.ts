import type { Descriptor } from '../descriptor.ts'
import type { SecretsContext } from './context.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<SecretsContext> = {
  routes,
}
