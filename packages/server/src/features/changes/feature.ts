import type { Descriptor } from '../descriptor.ts'
import type { RoomContext } from '../secrets/room.ts'
import { routes } from './routes.ts'

export const feature: Descriptor<RoomContext> = {
  routes,
}
