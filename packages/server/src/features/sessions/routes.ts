import { sessions } from '@skerry/contract/sign-in'
import { browser, person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { end, list } from './sessions.ts'

export const routes = [route(sessions.list, person, list), route(sessions.end, browser, end)]
