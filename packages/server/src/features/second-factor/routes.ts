import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { awaitingSecondFactor, browser, fresh } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { enter, enterOptions } from './enter.ts'
import { get, renew } from './second-factor.ts'
import { confirm, enroll, remove } from './totp.ts'

export const routes = [
  route(secondFactor.get, awaitingSecondFactor, get),
  route(secondFactor.enrollTotp, fresh(browser), enroll),
  route(secondFactor.confirmTotp, browser, confirm),
  route(secondFactor.removeTotp, fresh(browser), remove),
  route(secondFactor.renewRecoveryCodes, fresh(browser), renew),
  route(secondFactor.stepUpOptions, awaitingSecondFactor, enterOptions),
  route(secondFactor.stepUp, awaitingSecondFactor, enter),
]
