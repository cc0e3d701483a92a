import { audit } from '@skerry/contract/audit'
import { admin } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { list } from './audit.ts'

export const routes = [on(audit.list, admin, list)]
