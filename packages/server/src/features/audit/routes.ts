import { audit } from '@skerry/contract/audit/endpoints'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { list } from './audit.ts'
import { timeline } from './timeline.ts'

export const routes = [
  route(audit.list, unbound(admin), list, { heavy: 'search' }),
  route(audit.timeline, unbound(admin), timeline, { heavy: 'search' }),
]
