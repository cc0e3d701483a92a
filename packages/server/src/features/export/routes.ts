import { exporting } from '@skerry/contract/export/endpoints'
import { route } from '../../http/route.ts'
import { admin, unbound } from '../orgs/scope.ts'
import { create } from './export.ts'

export const routes = [route(exporting.create, unbound(admin), create, { heavy: 'archive' })]
