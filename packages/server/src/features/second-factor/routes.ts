import { secondFactor } from '@skerry/contract/second-factor'
import { arriving, browser, fresh } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { enter, enterOptions } from './enter.ts'
import { get, renew } from './second-factor.ts'
import { confirm, enroll, remove } from './totp.ts'

export const routes = [
  on(secondFactor.get, arriving, get),
  on(secondFactor.enrollTotp, fresh(browser), enroll),
  on(secondFactor.confirmTotp, browser, confirm),
  on(secondFactor.removeTotp, fresh(browser), remove),
  on(secondFactor.renewRecoveryCodes, fresh(browser), renew),
  on(secondFactor.stepUpOptions, arriving, enterOptions),
  on(secondFactor.stepUp, arriving, enter),
]
