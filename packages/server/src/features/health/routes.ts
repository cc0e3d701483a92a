import { health } from '@skerry/contract/health/endpoints'
import { open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { live, ready, readyWrites } from './health.ts'

export const routes = [
  route(health.live, open('monitors have no credential'), live),
  route(health.ready, open('monitors have no credential'), ready),
  route(health.readyWrites, open('monitors have no credential'), readyWrites),
]
