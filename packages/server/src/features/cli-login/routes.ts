import { cliLogin, cliSessions } from '@skerry/contract/cli-login'
import { browser, fresh, limited, open, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { approve, create, deny, get, poll } from './cli-login.ts'
import { list, revoke } from './sessions.ts'

export const routes = [
  on(cliLogin.create, limited('cliLogin', open('asks for a credential')), create),
  on(cliLogin.poll, limited('cliLoginPoll', open('the code stands for the request')), poll),
  on(cliLogin.get, browser, get),
  on(cliLogin.approve, fresh(browser), approve),
  on(cliLogin.deny, browser, deny),
  on(cliSessions.list, person, list),
  on(cliSessions.revoke, person, revoke),
]
