import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  archive: { nothing: 'its rows belong to people, who are in several organizations' },
}
