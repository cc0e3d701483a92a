import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { browser, fresh, limited, open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { approve, create, deny, get, poll } from './cli-login.ts'

export const routes = [
  route(cliLogin.create, limited('cliLogin', open('the caller has no credential yet')), create),
  route(cliLogin.poll, limited('cliLoginPoll', open('the code of the request is the credential')), poll),
  route(cliLogin.get, browser, get),
  route(cliLogin.approve, fresh(browser), approve),
  route(cliLogin.deny, browser, deny),
]
