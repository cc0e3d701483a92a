import { rotation as endpoints } from '@skerry/contract/rotation/endpoints'
import { route } from '../../http/route.ts'
import { admin } from '../orgs/scope.ts'
import { create, rotate } from './configure.ts'
import { get, list, remove, rotatorKey, update } from './policies.ts'
import { rotation } from './scope.ts'

// A bound admin token may rotate in its own environment. Each handler checks the environment, so no route refuses such
// a token.
export const routes = [
  route(endpoints.rotatorKey, admin, rotatorKey),
  route(endpoints.list, admin, list),
  route(endpoints.create, admin, create),
  route(endpoints.get, rotation(admin), get),
  route(endpoints.update, rotation(admin), update),
  route(endpoints.rotate, rotation(admin), rotate),
  route(endpoints.delete, rotation(admin), remove),
]
