import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { afterAll, afterEach } from 'vitest'
import type { DeliveryStatus } from '../src/features/vault/lifecycles.ts'
import { openTenant } from './scene.ts'
import { startWebhookReceiver, trustReceivers } from './services/webhook-receiver.ts'
import { until } from './until.ts'
import { newVault, sent } from './vault-scene.ts'

/**
 * Sets up a suite on vault webhooks: a tenant, and a receiver that the server trusts. After each test the receiver
 * answers normally again. Call it at the top of the file:
 *
 * @example const { world, receiver, newWebhook, deliveredTo } = await openWebhooks()
 */
export async function openWebhooks() {
  const { world, tenant } = await openTenant()
  trustReceivers(world)
  const receiver = await startWebhookReceiver()
  afterAll(() => receiver.close())
  afterEach(() => {
    receiver.answer = null
    receiver.hooks.length = 0
  })
  const { orgId, admin } = tenant

  const refuse = (status: number) => {
    receiver.answer = (response) =>
      response.writeHead(status, { location: receiver.url }).end('a secret of the receiver')
  }

  /** Creates a project with a webhook to this receiver, at its own path. */
  const newWebhook = async (body: object = {}) => {
    const vault = await newVault(world, tenant)
    const url = `${receiver.url}/${vault.projectId}`
    const made = await sent(world, vaultPlatform.createWebhook, { as: vault.platform.as, body: { url, ...body } })
    const { endpoint, secret } = made
    const params = { orgId, projectId: vault.projectId, vaultWebhookId: endpoint.id }
    return { vault, secret, params, as: admin.as, id: endpoint.id }
  }
  type Made = Awaited<ReturnType<typeof newWebhook>>

  const deliveriesOf = async ({ as, params }: Made) =>
    (await sent(world, vaultWebhooks.deliveries, { as, params })).deliveries
  const shown = async ({ as, params, id }: Made) =>
    (await sent(world, vaultWebhooks.list, { as, params })).endpoints.find((one) => one.id === id)
  const hooksOf = ({ vault }: Made) => receiver.hooks.filter(({ path }) => path.endsWith(vault.projectId))
  const told = (made: Made) => hooksOf(made).map(({ body }) => JSON.parse(body))

  /** Waits for so many deliveries in that state. A job, a sweep or the test itself may have sent them. */
  const deliveredTo = (made: Made, count: number, status: DeliveryStatus = 'delivered') =>
    until(`${count} deliveries ${status}`, async () => {
      const those = (await deliveriesOf(made)).filter((one) => one.status === status)
      return those.length >= count && those
    })

  /** Waits until one delivery has been tried this often. */
  const triedOf = (made: Made, attempts: number) =>
    until(`${attempts} tries`, async () => (await deliveriesOf(made)).find((one) => one.attempts >= attempts))

  return { world, tenant, receiver, refuse, newWebhook, deliveriesOf, shown, hooksOf, told, deliveredTo, triedOf }
}

/** A webhook, its project, and the admin who manages both. */
export type MadeWebhook = Awaited<ReturnType<Awaited<ReturnType<typeof openWebhooks>>['newWebhook']>>
