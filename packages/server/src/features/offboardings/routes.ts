import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { change, finish, get, list, rows } from './offboardings.ts'
import { remind } from './rows.ts'
import { offboarding } from './scope.ts'
import { preview, start } from './start.ts'

export const routes = [
  route(offboardings.preview, unbound(admin), preview, { heavy: 'search' }),
  route(offboardings.list, unbound(admin), list, { heavy: 'search' }),
  route(offboardings.start, unbound(admin), start),
  route(offboardings.get, offboarding(unbound(admin)), get),
  route(offboardings.rows, offboarding(unbound(admin)), rows, { heavy: 'search' }),
  route(offboardings.change, offboarding(unbound(admin)), change),
  route(offboardings.remind, offboarding(unbound(admin)), remind),
  route(offboardings.finish, offboarding(unbound(admin)), finish),
]
