import { sessions } from '@skerry/contract/sessions/endpoints'
import { browser, person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { end, list } from './sessions.ts'

export const routes = [route(sessions.list, person, list), route(sessions.end, browser, end)]
