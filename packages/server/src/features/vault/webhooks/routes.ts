import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { route } from '../../../http/route.ts'
import { admin, unbound } from '../../orgs/scope.ts'
import { platformKey } from '../platform/scope.ts'
import { project } from '../projects/scope.ts'
import { deliveries, redeliver } from './deliveries.ts'
import { delivery, ofPlatform, ofProject } from './scope.ts'
import { create, list, remove, test, update } from './webhooks.ts'

const inProject = project(unbound(admin))
const one = ofProject(inProject)

export const routes = [
  route(vaultWebhooks.list, inProject, (input) => list(input, input.project)),
  route(vaultWebhooks.create, inProject, (input) => create(input, input.project)),
  route(vaultWebhooks.update, one, update),
  route(vaultWebhooks.delete, one, remove),
  route(vaultWebhooks.test, one, test),
  route(vaultWebhooks.deliveries, one, deliveries),
  route(vaultWebhooks.redeliver, delivery(one), redeliver),
  route(vaultPlatform.webhooks, platformKey, (input) => list(input, input.place)),
  route(vaultPlatform.createWebhook, platformKey, (input) => create(input, input.place)),
  route(vaultPlatform.deleteWebhook, ofPlatform(platformKey), remove),
  route(vaultPlatform.testWebhook, ofPlatform(platformKey), test),
]
