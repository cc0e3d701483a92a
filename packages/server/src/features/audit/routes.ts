import { audit } from '@skerry/contract/audit'
import { admin } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { list } from './audit.ts'

export const routes = [route(audit.list, admin, list)]
