import { signInPasskeys } from '@skerry/contract/second-factor'
import { browser, fresh, person } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { create, list, options, remove } from './passkeys.ts'

export const routes = [
  on(signInPasskeys.list, person, list),
  on(signInPasskeys.options, fresh(browser), options),
  on(signInPasskeys.create, fresh(browser), create),
  on(signInPasskeys.delete, fresh(browser), remove),
]
