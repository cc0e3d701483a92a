import { notifications } from '@skerry/contract/notifications/endpoints'
import { person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { get, put } from './notifications.ts'

export const routes = [route(notifications.get, person, get), route(notifications.put, person, put)]
