import { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'
import { browser, fresh, person } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { create, list, options, remove } from './passkeys.ts'

export const routes = [
  route(signInPasskeys.list, person, list),
  route(signInPasskeys.options, fresh(browser), options),
  route(signInPasskeys.create, fresh(browser), create),
  route(signInPasskeys.delete, fresh(browser), remove),
]
