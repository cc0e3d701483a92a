import { billing } from '@skerry/contract/billing/endpoints'
import { raw } from '../../http/raw.ts'
import { route } from '../../http/route.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { cancel, checkout, get, portal, promo } from './billing.ts'
import { mountWebhook } from './webhook.ts'

export const routes = [
  route(billing.get, member, get, { heavy: 'search' }),
  route(billing.checkout, unbound(admin), checkout),
  route(billing.portal, unbound(admin), portal),
  route(billing.cancel, unbound(admin), cancel),
  route(billing.promo, unbound(admin), promo),
]

export const rawRoutes = [
  raw(['/webhooks/stripe'], 'events of the payment provider, which signs each', mountWebhook, 'POST'),
]
