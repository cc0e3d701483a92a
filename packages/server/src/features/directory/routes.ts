import { directory } from '@skerry/contract/directory/endpoints'
import { keyed } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { claims, entries, get, put } from './directory.ts'

export const routes = [
  route(directory.get, keyed(member), get),
  route(directory.entries, keyed(unbound(admin)), entries, { heavy: 'search' }),
  route(directory.claims, keyed(unbound(admin)), claims, { heavy: 'search' }),
  route(directory.put, keyed(unbound(admin)), put),
]
