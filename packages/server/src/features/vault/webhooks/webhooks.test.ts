import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { verifyWebhook } from '@skerry/sdk/vault'
import { describe, expect, test } from 'vitest'
import { engine } from '../../../../test/engine.ts'
import { newEntries, tableDump } from '../../../../test/state.ts'
import { signUp } from '../../../../test/tenant.ts'
import { newConnection, newManageLink, newVault, open, sent } from '../../../../test/vault-scene.ts'
import { type MadeWebhook, openWebhooks } from '../../../../test/webhook-scene.ts'
import { openWorld } from '../../../../test/world.ts'

const { world, receiver, refuse, newWebhook, deliveriesOf, shown, hooksOf, told, deliveredTo } = await openWebhooks()

describe('a webhook', () => {
  test('receives signed events about connections, which published clients can verify', async () => {
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

  test('receives only the event types that it subscribed to, and only events of its project', async () => {
    const made = await newWebhook({ events: ['connection.revoked'] })
    await newConnection(world, (await newWebhook()).vault)
    const vaultConnectionId = await newConnection(world, made.vault)
    await sent(world, vaultPlatform.revoke, { as: made.vault.platform.as, params: { vaultConnectionId } })
    await deliveredTo(made, 1)
    expect(told(made).map(({ type }) => type)).toEqual(['connection.revoked'])
  })

  // A server with the embedded database always has a server key.
  test.runIf(engine() === 'postgres')(
    'cannot be created on a server that has no server key to encrypt its secret',
    async () => {
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
    },
  )

  test('has its secret stored encrypted and its path kept out of the audit log', async () => {
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

  let made: MadeWebhook | undefined
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
  ])('with invalid settings is refused and changes nothing: %j', async (body) => {
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

  test('keeps the fields that an update omits, and null removes the description', async () => {
    const { as, params } = await newWebhook()
    const change = async (body: object) => (await sent(world, vaultWebhooks.update, { as, params, body })).endpoint
    const before = await change({ description: 'Backend' })
    expect(before.description).toBe('Backend')
    const events = ['connection.revoked']
    expect(await change({ events })).toEqual({ ...before, events, updatedAt: expect.any(String) })
    expect(await change({ description: null })).toMatchObject({ url: before.url, events, description: null })
  })

  test('is one of ten at most, even if many are created at once', async () => {
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
  test('sends a ping at once and returns the outcome', async () => {
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
    ['to an address written as a number', 'https://0xa000001/', 'SKERRY_ALLOW_PRIVATE_TARGETS'],
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
