import { vaultConnect } from '@skerry/contract/vault-connect'
import { vaultExecutor } from '@skerry/contract/vault-executor'
import { vaultDeliveryStatuses, vaultWebhookStatuses } from '@skerry/contract/vault-facts'
import { vaultPlatform } from '@skerry/contract/vault-platform'
import { vaultWebhooks } from '@skerry/contract/vault-webhooks'
import { verifyWebhook } from '@skerry/sdk/vault'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { engine } from '../../../../test/engine.ts'
import { isQuick } from '../../../../test/extent.ts'
import { openTenant } from '../../../../test/scene.ts'
import { startWebhookReceiver, trustReceivers } from '../../../../test/services/webhook-receiver.ts'
import { newEntries, tableDump } from '../../../../test/state.ts'
import { signUp } from '../../../../test/tenant.ts'
import { until } from '../../../../test/until.ts'
import { newConnection, newManageLink, newVault, open, sent, type Vault } from '../../../../test/vault-scene.ts'
import { openWorld } from '../../../../test/world.ts'
import { type DeliveryStatus, deliveryLifecycle, webhookLifecycle } from '../lifecycles.ts'
import { deliverDue, failuresMax, retrySeconds } from './deliver.ts'
import { forget, sweep } from './jobs.ts'

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
  receiver.answer = (response) => response.writeHead(status, { location: receiver.url }).end('a secret of the receiver')
}

/** A project with a webhook of this receiver's, at a path of its own. */
async function newWebhook(body: object = {}) {
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

/** Until there are so many of these, whoever sends them. */
const deliveredTo = (made: Made, count: number, status: DeliveryStatus = 'delivered') =>
  until(`${count} deliveries ${status}`, async () => {
    const those = (await deliveriesOf(made)).filter((one) => one.status === status)
    return those.length >= count && those
  })

/** Until each delivery has been tried this often. */
const triedOf = (made: Made, attempts: number) =>
  until(`${attempts} tries`, async () => (await deliveriesOf(made)).find((one) => one.attempts >= attempts))

describe('a webhook', () => {
  test('is told of what happens to connections, signed, in words that published clients verify', async () => {
    const made = await newWebhook()
    const { vault, secret } = made
    const vaultConnectionId = await newConnection(world, vault)
    const by = { as: vault.executor.as, params: { vaultConnectionId } }
    await deliveredTo(made, 1)
    await sent(world, vaultExecutor.setStatus, {
      ...by,
      body: { status: 'reauth_required', reason: 'refresh_rejected' },
    })
    await deliveredTo(made, 2)
    await sent(world, vaultExecutor.setStatus, { ...by, body: { status: 'active' } })
    await deliveredTo(made, 3)
    const manage = await open(world, await newManageLink(world, vault))
    await sent(world, vaultConnect.revoke, { as: manage.as, body: { connectionId: vaultConnectionId } })
    const deliveries = await deliveredTo(made, 4)

    const ready = { type: 'connection.ready', data: { connection: { id: vaultConnectionId, status: 'active' } } }
    expect(told(made)).toMatchObject([
      ready,
      { type: 'connection.reauth_required', data: { connection: { statusReason: 'refresh_rejected' } } },
      ready,
      { type: 'connection.revoked', data: { connection: { status: 'revoked', revokedBy: 'end_user', slots: [] } } },
    ])
    for (const { headers, body } of hooksOf(made)) {
      const event = await verifyWebhook({ secret, headers, body, now: world.clock.now })
      expect(event).toMatchObject({ projectId: vault.projectId, createdAt: expect.any(String) })
      expect(headers).toMatchObject({ 'skerry-webhook-id': event.id, 'content-type': 'application/json' })
      for (const name of ['id', 'timestamp', 'signature'])
        expect(headers[`seekrit-webhook-${name}`]).toBe(headers[`skerry-webhook-${name}`])
      await expect(verifyWebhook({ secret: `${secret}x`, headers, body, now: world.clock.now })).rejects.toThrow()
    }
    expect(deliveries.map(({ id }) => id).toReversed()).toEqual(told(made).map(({ id }) => id))
    expect(await shown(made)).toMatchObject({ failureCount: 0, lastDeliveryStatus: 204, lastError: null })
  })

  test('is told of the types that it asked for, and of no other project', async () => {
    const made = await newWebhook({ events: ['connection.revoked'] })
    await newConnection(world, (await newWebhook()).vault)
    const vaultConnectionId = await newConnection(world, made.vault)
    await sent(world, vaultPlatform.revoke, { as: made.vault.platform.as, params: { vaultConnectionId } })
    await deliveredTo(made, 1)
    expect(told(made).map(({ type }) => type)).toEqual(['connection.revoked'])
  })

  // An embedded database always has one.
  test.runIf(engine() === 'postgres')('is not made by a server that has no server key to seal its secret', async () => {
    const keyless = await openWorld({ SKERRY_SERVER_KEY: '' })
    try {
      const tenant = await signUp(keyless)
      const { platform, projectId } = await newVault(keyless, tenant)
      const params = { orgId: tenant.orgId, projectId }
      const body = { url: receiver.url }
      const asked = [
        await keyless.call(vaultWebhooks.create, { as: tenant.admin.as, params, body }),
        await keyless.call(vaultPlatform.createWebhook, { as: platform.as, body }),
      ]
      for (const { status, error } of asked)
        expect([status, error?.message]).toEqual([409, 'this server has no server key'])
      const listed = await sent(keyless, vaultWebhooks.list, { as: tenant.admin.as, params })
      expect(listed).toEqual({ endpoints: [], available: false })
    } finally {
      await keyless.close()
    }
  })

  test('keeps its secret sealed, and its path out of the trail', async () => {
    const entries = await newEntries(world, async () => {
      const { secret } = await newWebhook()
      for (const { where, text } of await tableDump(world))
        expect([where, text.includes(secret)]).toEqual([where, false])
      expect(world.log.join('').includes(secret)).toBe(false)
    })
    const [entry] = entries.filter(({ action }) => action === 'vault.webhook.created')
    expect(JSON.stringify(entry?.metadata)).toContain('127.0.0.1')
    expect(JSON.stringify(entry?.metadata)).not.toContain('hook/')
  })

  let made: Made | undefined
  test.each([
    { url: 'http://hooks.example.com/' },
    { url: 'http://127.0.0.1/' },
    { url: 'https://user:pass@hooks.example.com/' },
    { url: 'https://hooks.example.com/#part' },
    { url: 'https://[::1' },
    { url: 'javascript:alert(1)' },
    { events: [] },
    { events: ['ping'] },
    { events: ['connection.deleted'] },
    { description: '' },
  ])('that cannot be is refused, and changes nothing: %j', async (body) => {
    made ??= await newWebhook()
    const whole = { url: 'https://hooks.example.com/', ...body }
    for (const answer of [
      await world.call(vaultPlatform.createWebhook, { as: made.vault.platform.as, body: whole }),
      await world.call(vaultWebhooks.create, { as: made.as, params: made.params, body: whole }),
      await world.call(vaultWebhooks.update, { as: made.as, params: made.params, body: whole }),
    ])
      expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining('body.')])
    const { endpoints } = await sent(world, vaultPlatform.webhooks, { as: made.vault.platform.as })
    expect(endpoints).toMatchObject([{ id: made.id, url: expect.stringContaining(receiver.url) }])
  })

  test('is one of ten at most, however many come at once', async () => {
    const { vault } = await newWebhook()
    const body = { url: 'https://hooks.example.com/' }
    const answers = await Promise.all(
      Array.from({ length: 11 }, () => world.call(vaultPlatform.createWebhook, { as: vault.platform.as, body })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(9).fill(201), 409, 409])
  })

  test('of another project is not found', async () => {
    const [one, other] = [await newWebhook(), await newWebhook()]
    const params = { ...one.params, vaultWebhookId: other.id }
    const deliveryId = (await sent(world, vaultWebhooks.test, { as: other.as, params: other.params })).deliveryId
    const own = { ...one.params, vaultDeliveryId: deliveryId }
    for (const answer of [
      await world.call(vaultPlatform.deleteWebhook, { as: one.vault.platform.as, params }),
      await world.call(vaultPlatform.testWebhook, { as: one.vault.platform.as, params }),
      await world.call(vaultWebhooks.deliveries, { as: one.as, params }),
      await world.call(vaultWebhooks.redeliver, { as: one.as, params: own }),
    ])
      expect(answer.status).toBe(404)
  })
})

describe('a test', () => {
  test('sends a ping at once, and says what came of it', async () => {
    const made = await newWebhook()
    const works = await sent(world, vaultPlatform.testWebhook, { as: made.vault.platform.as, params: made.params })
    expect(works).toMatchObject({ delivered: true, status: 204, error: null, queued: false })
    expect(told(made)).toMatchObject([{ id: works.deliveryId, type: 'ping', data: { connection: null } }])
    refuse(500)
    const fails = await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    expect(fails).toMatchObject({ delivered: false, status: 500, error: 'answered 500' })
    expect(await deliveriesOf(made)).toMatchObject([{ id: fails.deliveryId, status: 'dead' }, { status: 'delivered' }])
    expect(await shown(made)).toMatchObject({ status: 'active', failureCount: 0, lastError: 'answered 500' })
  })

  test.each([
    ['to a private address', 'https://10.1.2.3/', 'SKERRY_ALLOW_PRIVATE_TARGETS'],
    ['to a mapped address of the cloud', 'https://[::ffff:169.254.169.254]/', 'SKERRY_ALLOW_PRIVATE_TARGETS'],
    ['to a number that is an address', 'https://0xa000001/', 'SKERRY_ALLOW_PRIVATE_TARGETS'],
  ])('%s is refused', async (_, url, error) => {
    const made = await newWebhook({ url })
    const answer = await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    expect(answer).toMatchObject({ delivered: false, status: null, error: expect.stringContaining(error) })
  })

  test('follows no redirect', async () => {
    const made = await newWebhook()
    refuse(307)
    const answer = await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    expect(answer).toMatchObject({ delivered: false, status: 307 })
    expect(hooksOf(made)).toHaveLength(1)
  })
})

describe('a delivery', () => {
  test('that is refused comes again with the same id and body after each pause, then is dead, until it is sent again', async () => {
    const made = await newWebhook()
    refuse(500)
    await newConnection(world, made.vault)
    await triedOf(made, 1)
    const due = { orgId, id: made.id }
    for (const [index, seconds] of retrySeconds.entries()) {
      const [{ nextAttemptAt, lastAttemptAt } = { nextAttemptAt: null, lastAttemptAt: null }] = await deliveriesOf(made)
      expect(Date.parse(`${nextAttemptAt}`) - Date.parse(`${lastAttemptAt}`)).toBe(seconds * 1000)
      world.clock.advance(seconds)
      await deliverDue(world.server.context, due)
      await triedOf(made, index + 2)
    }
    const [dead] = await deliveredTo(made, 1, 'dead')
    expect(dead).toMatchObject({ attempts: 9, nextAttemptAt: null, responseStatus: 500, lastError: 'answered 500' })
    expect(new Set(hooksOf(made).map(({ body }) => body)).size).toBe(1)
    world.clock.advance(90_000)
    await deliverDue(world.server.context, due)
    expect(hooksOf(made)).toHaveLength(9)

    receiver.answer = null
    const params = { ...made.params, vaultDeliveryId: dead?.id as string }
    await sent(world, vaultWebhooks.redeliver, { as: made.as, params })
    expect(await deliveredTo(made, 1)).toMatchObject([{ id: dead?.id, attempts: 1, lastError: null }])
    expect(told(made).at(-1).id).toBe(dead?.id)
  })

  test('moves by every trigger as its table says, or stays', async () => {
    const made = await newWebhook()
    for (const status of vaultDeliveryStatuses) {
      refuse(status === 'delivered' ? 204 : 500)
      const { deliveryId } = await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
      const params = { ...made.params, vaultDeliveryId: deliveryId }
      if (status === 'pending') {
        await sent(world, vaultWebhooks.redeliver, { as: made.as, params })
        await triedOf(made, 1)
      }
      const answer = await world.call(vaultWebhooks.redeliver, { as: made.as, params })
      expect([status, answer.body.delivery?.status]).toEqual([status, deliveryLifecycle.next(status, 'redeliver')])
    }
    for (const status of vaultWebhookStatuses) {
      await sent(world, vaultWebhooks.update, { as: made.as, params: made.params, body: { status } })
      const params = { ...made.params, vaultDeliveryId: (await deliveriesOf(made))[0]?.id as string }
      const answer = await world.call(vaultWebhooks.redeliver, { as: made.as, params })
      expect(answer.status).toBe(webhookLifecycle.next(status, 'send') === undefined ? 409 : 200)
    }
  })

  test('of long ago is forgotten', async () => {
    const made = await newWebhook()
    await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    world.clock.advance(30 * 86_400 + 1)
    await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    await forget(world.server.context)
    expect(await deliveriesOf(made)).toHaveLength(1)
  })
})

describe('a webhook that fails', () => {
  test('is tried with one delivery at a time, and gets everything once it works', async () => {
    const made = await newWebhook()
    refuse(503)
    await newConnection(world, made.vault)
    await triedOf(made, 1)
    let [inFlight, most] = [0, 0]
    receiver.answer = (response) => {
      most = Math.max(most, ++inFlight)
      setTimeout(() => response.writeHead(503).end(() => inFlight--), 20)
    }
    for (let n = 0; n < 4; n++) await newConnection(world, made.vault)
    await until('all are written down', async () => (await deliveriesOf(made)).length === 5)
    const before = hooksOf(made).length
    world.clock.advance(60)
    await sweep(world.server.context)
    await until('it is tried', () => hooksOf(made).length > before)
    expect(most).toBe(1)
    receiver.answer = null
    await until('each is delivered', async () => {
      world.clock.advance(60)
      await sweep(world.server.context)
      return (await deliveriesOf(made)).every(({ status }) => status === 'delivered')
    })
    expect(new Set(told(made).map(({ id }) => id)).size).toBe(5)
    expect(await shown(made)).toMatchObject({ failureCount: 0 })
  })

  test(`is disabled after ${failuresMax} failures in a row, which the trail and the admins are told, and takes up when enabled`, async () => {
    const made = await newWebhook()
    refuse(410)
    await newConnection(world, made.vault)
    await triedOf(made, 1)
    await world.server.context.db.rows(
      'update vault_webhooks set failure_count = $2, rests_until = null where id = $1',
      [made.id, failuresMax - 1],
    )
    world.clock.advance(10)
    const entries = await newEntries(world, () => deliverDue(world.server.context, { orgId, id: made.id }))
    expect(entries).toMatchObject([{ action: 'vault.webhook.disabled', actorType: 'system', resourceId: made.id }])
    expect(await shown(made)).toMatchObject({ status: 'disabled', failureCount: failuresMax })
    const events = await world.server.context.db.foreign<{ name: string }>(
      `select name from jobs.job where data->>'type' = 'vault.webhook.disabled' and data->>'orgId' = '${orgId}'`,
    )
    expect(events).toEqual([{ name: 'events.notifications' }])
    world.clock.advance(86_400)
    const before = hooksOf(made).length
    await deliverDue(world.server.context, { orgId, id: made.id })
    await newConnection(world, made.vault)
    expect(hooksOf(made)).toHaveLength(before)

    receiver.answer = null
    await sent(world, vaultWebhooks.update, { as: made.as, params: made.params, body: { status: 'active' } })
    await deliveredTo(made, 1)
    expect(await shown(made)).toMatchObject({ status: 'active', failureCount: 0 })
  })

  // Its delivery takes as long as a receiver may.
  test.skipIf(isQuick)('by hanging holds up no other one', async () => {
    const [hangs, works] = [await newWebhook(), await newWebhook()]
    receiver.answer = (response, { path }) => {
      if (path.endsWith(works.vault.projectId)) response.writeHead(200).end()
    }
    const connect = ({ vault }: Made) => newConnection(world, vault as Vault)
    await connect(hangs)
    await until('it hangs', () => hooksOf(hangs).length === 1)
    await connect(works)
    await deliveredTo(works, 1)
    expect(await deliveriesOf(hangs)).toMatchObject([{ status: 'pending', attempts: 0 }])
    expect((await triedOf(hangs, 1)).lastError).toContain('did not answer in time')
  })

  test('can be deleted while it is sent to, with what waits', async () => {
    const made = await newWebhook()
    const { promise, resolve } = Promise.withResolvers<void>()
    receiver.answer = (response) => {
      promise.then(() => response.writeHead(200).end())
    }
    await newConnection(world, made.vault)
    await until('it is sent', () => hooksOf(made).length === 1)
    await sent(world, vaultWebhooks.delete, { as: made.as, params: made.params })
    resolve()
    expect((await world.call(vaultWebhooks.deliveries, { as: made.as, params: made.params })).status).toBe(404)
    const left = await world.server.context.db.rows('select 1 from vault_deliveries where webhook_id = $1', [made.id])
    expect(left).toEqual([])
  })
})
