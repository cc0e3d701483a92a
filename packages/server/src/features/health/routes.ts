import { health } from '@skerry/contract/health/endpoints'
import { open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { live, ready, readyWrites } from './health.ts'

export const routes = [
  route(health.live, open('liveness'), live),
  route(health.ready, open('readiness'), ready),
  route(health.readyWrites, open('readiness'), readyWrites),
]
