import { notifications } from '@skerry/contract/notifications'
import { person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { get, put } from './notifications.ts'

export const routes = [on(notifications.get, person, get), on(notifications.put, person, put)]
