import { vaultDeliveryStatuses, vaultWebhookStatuses } from '@skerry/contract/vault/facts'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isQuick } from '../../../../test/extent.ts'
import { newEntries, stopSchedules } from '../../../../test/state.ts'
import { until } from '../../../../test/until.ts'
import { newConnection, sent, type Vault } from '../../../../test/vault-scene.ts'
import { longMs } from '../../../../test/wait-limits.ts'
import { type MadeWebhook, openWebhooks } from '../../../../test/webhook-scene.ts'
import { type DeliveryStatus, deliveryLifecycle, type WebhookStatus, webhookLifecycle } from '../lifecycles.ts'
import { deliverDue, failuresMax, retrySeconds } from './deliver.ts'
import { deliver, forget, sweep } from './jobs.ts'

const { world, tenant, receiver, refuse, newWebhook, deliveriesOf, shown, hooksOf, told, deliveredTo, triedOf } =
  await openWebhooks()
// The schedules are stopped, because a sweep would send the deliveries that a test sends itself.
await stopSchedules(world)
const { orgId } = tenant

/** Deletes the retry that the server queued after a failure, so that the test can run it itself. */
const takeNextTry = (made: MadeWebhook) =>
  until('the next try waits', async () => {
    const queued = `delete from jobs where name = $1 and state = 'waiting' and data->>'webhookId' = $2 returning 1`
    return (await world.server.context.db.rows(queued, [deliver.name, made.id])).length > 0
  })

describe('a delivery', () => {
  test('is retried with the same id and body after each pause, then is dead until someone sends it again', async () => {
    const made = await newWebhook()
    refuse(500)
    await newConnection(world, made.vault)
    await triedOf(made, 1)
    await takeNextTry(made)
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

  /** Makes a single delivery in this state. */
  async function deliveryIn(made: MadeWebhook, state: DeliveryStatus): Promise<string> {
    refuse(state === 'delivered' ? 204 : 500)
    await newConnection(world, made.vault)
    const { id } = await triedOf(made, 1)
    if (state === 'dead') await lastTry(made, id)
    expect(await statusOf(made)).toBe(state)
    return id
  }

  const statusOf = async (made: MadeWebhook) => (await deliveriesOf(made))[0]?.status

  /** Sends due deliveries after the pauses of the delivery and the webhook. A job may send them at the same time. */
  async function sendDue(made: MadeWebhook) {
    const [before] = await deliveriesOf(made)
    world.clock.advance(90_000)
    await deliverDue(world.server.context, { orgId, id: made.id })
    if (before?.status === 'pending') await triedOf(made, before.attempts + 1)
    return statusOf(made)
  }

  async function lastTry(made: MadeWebhook, id: string) {
    const { db } = world.server.context
    await db.rows('update vault_deliveries set attempts = $2 where id = $1', [id, retrySeconds.length])
    refuse(500)
    return sendDue(made)
  }

  /** Each trigger returns the state of the delivery afterwards. */
  const deliveryTriggers: Record<
    Parameters<typeof deliveryLifecycle.check>[1],
    (made: MadeWebhook, id: string) => Promise<DeliveryStatus | undefined>
  > = {
    accept: (made) => {
      receiver.answer = null
      return sendDue(made)
    },
    retry: (made) => {
      refuse(500)
      return sendDue(made)
    },
    give_up: lastTry,
    redeliver: async ({ as, params }, id) =>
      (await sent(world, vaultWebhooks.redeliver, { as, params: { ...params, vaultDeliveryId: id } })).delivery.status,
  }

  test.each(
    vaultDeliveryStatuses.flatMap((state) =>
      (Object.keys(deliveryTriggers) as (keyof typeof deliveryTriggers)[]).map((trigger) => [state, trigger] as const),
    ),
  )('in the state %s reacts to %s as its lifecycle table says', async (state, trigger) => {
    const made = await newWebhook()
    const id = await deliveryIn(made, state)
    const before = hooksOf(made).length
    const next = deliveryLifecycle.next(state, trigger)
    expect(await deliveryTriggers[trigger](made, id)).toBe(next ?? state)
    // A delivery that no answer can move is not sent.
    if (next === undefined) expect(hooksOf(made)).toHaveLength(before)
  })

  test('is deleted after 30 days', async () => {
    const made = await newWebhook()
    await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    world.clock.advance(30 * 86_400 + 1)
    await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
    await forget(world.server.context)
    expect(await deliveriesOf(made)).toHaveLength(1)
  })
})

const setStatus = (made: MadeWebhook, status: WebhookStatus) =>
  world.call(vaultWebhooks.update, { as: made.as, params: made.params, body: { status } })

const webhookTriggers: Record<
  Parameters<typeof webhookLifecycle.check>[1],
  (made: MadeWebhook, id: string) => Promise<{ status: number }>
> = {
  send: ({ as, params }, id) => world.call(vaultWebhooks.redeliver, { as, params: { ...params, vaultDeliveryId: id } }),
  enable: (made) => setStatus(made, 'active'),
  disable: (made) => setStatus(made, 'disabled'),
}

test.each(
  vaultWebhookStatuses.flatMap((state) =>
    (Object.keys(webhookTriggers) as (keyof typeof webhookTriggers)[]).map((trigger) => [state, trigger] as const),
  ),
)('a webhook in the state %s reacts to %s as its lifecycle table says', async (state, trigger) => {
  const made = await newWebhook()
  const { deliveryId } = await sent(world, vaultWebhooks.test, { as: made.as, params: made.params })
  await setStatus(made, state)
  const { status } = await webhookTriggers[trigger](made, deliveryId)
  const next = webhookLifecycle.next(state, trigger)
  expect(status).toBe(next === undefined ? 409 : 200)
  expect(await shown(made)).toMatchObject({ status: next ?? state })
})

describe('a webhook that fails', () => {
  test('is tried with one delivery at a time, and receives all of them once it works', async () => {
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

  test(`is disabled after ${failuresMax} failures in a row, with an audit entry and a mail to admins, and resumes when enabled`, async () => {
    const made = await newWebhook()
    refuse(410)
    await newConnection(world, made.vault)
    await triedOf(made, 1)
    await takeNextTry(made)
    await world.server.context.db.rows(
      'update vault_webhooks set failure_count = $2, rests_until = null where id = $1',
      [made.id, failuresMax - 1],
    )
    world.clock.advance(10)
    const entries = await newEntries(world, () => deliverDue(world.server.context, { orgId, id: made.id }))
    expect(entries).toMatchObject([{ action: 'vault.webhook.disabled', actorType: 'system', resourceId: made.id }])
    expect(await shown(made)).toMatchObject({ status: 'disabled', failureCount: failuresMax })
    const events = await world.server.context.db.foreign<{ name: string }>(
      `select name from jobs where data->>'type' = 'vault.webhook.disabled' and data->>'orgId' = '${orgId}'`,
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

  // This test waits as long as a receiver may take to answer.
  test.skipIf(isQuick)('does not delay other webhooks while it hangs', async () => {
    world.waitLimits.answerMs = null
    onTestFinished(() => {
      world.waitLimits.answerMs = longMs
    })
    const [hangs, works] = [await newWebhook(), await newWebhook()]
    receiver.answer = (response, { path }) => {
      if (path.endsWith(works.vault.projectId)) response.writeHead(200).end()
    }
    const connect = ({ vault }: MadeWebhook) => newConnection(world, vault as Vault)
    await connect(hangs)
    await until('it hangs', () => hooksOf(hangs).length === 1)
    await connect(works)
    await deliveredTo(works, 1)
    expect(await deliveriesOf(hangs)).toMatchObject([{ status: 'pending', attempts: 0 }])
    expect((await triedOf(hangs, 1)).lastError).toContain('did not answer in time')
  })

  test('can be deleted during a delivery, together with its pending deliveries', async () => {
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
