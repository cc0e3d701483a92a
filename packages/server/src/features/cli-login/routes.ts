import { cliLogin, cliSessions } from '@skerry/contract/cli-login'
import { browser, fresh, limited, open, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { approve, create, deny, get, poll } from './cli-login.ts'
import { guarded } from './guesses.ts'
import { list, revoke } from './sessions.ts'

export const routes = [
  on(cliLogin.create, limited('cliLogin', open('asks for a credential')), create),
  on(cliLogin.poll, guarded(limited('cliLoginPoll', open('the code stands for the request'))), poll),
  on(cliLogin.get, guarded(browser), get),
  on(cliLogin.approve, guarded(fresh(browser)), approve),
  on(cliLogin.deny, guarded(browser), deny),
  on(cliSessions.list, person, list),
  on(cliSessions.revoke, person, revoke),
]
