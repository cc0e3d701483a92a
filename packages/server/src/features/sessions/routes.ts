import { sessions } from '@skerry/contract/sign-in'
import { browser, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { end, list } from './sessions.ts'

export const routes = [on(sessions.list, person, list), on(sessions.end, browser, end)]
