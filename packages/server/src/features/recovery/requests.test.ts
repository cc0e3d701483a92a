import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { isQuick } from '../../../test/extent.ts'
import { keyOf, openRequest, recoveryBody, setUpRecovery } from '../../../test/recovery-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stateOf } from '../../../test/state.ts'
import { type Actor, newApp, newEnv, newMember, signUp } from '../../../test/tenant.ts'
import { expire } from './jobs.ts'
import { requestLifecycle, type Status, type Trigger } from './lifecycle.ts'

const { world } = await openTenant()

async function scene(threshold = 2) {
  const tenant = await signUp(world)
  const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const custodians: Actor[] = []
  for (let n = 0; n < 3; n++) custodians.push(await newMember(world, tenant))
  const target = await newMember(world, tenant)
  await setUpRecovery(world, tenant, custodians, threshold, [envId])
  const { orgId } = tenant
  const as = tenant.admin.as
  const { id } = await openRequest(world, tenant, target)
  const params = { orgId, recoveryRequestId: id }
  const give = (index: number, more: object = {}, by = custodians[index] as Actor) =>
    world.call(recoveryRequests.contribute, {
      as: by.as,
      params,
      body: { shareIndex: index + 1, contributedShare: wrappedKey(), ...more },
    })
  const grant = { environmentId: envId, wrappedDek: wrappedKey() }
  const complete = (more: object = {}, by = target) =>
    world.call(recoveryRequests.complete, {
      as: by.as,
      params,
      body: { principalType: 'user', principalId: target.id, grants: [grant], ...more },
    })
  const cancel = () => world.call(recoveryRequests.cancel, { as, params })
  const get = async () => (await world.call(recoveryRequests.get, { as, params })).body
  return { tenant, orgId, as, envId, custodians, target, id, params, give, complete, cancel, get, grant }
}

describe('a recovery request', () => {
  test('gives its target the covered keys once the threshold is met, and then its shares are deleted', async () => {
    const { give, complete, get, target, custodians, grant, orgId, envId, params } = await scene()
    const keys = () => world.call(recovery.envKeys, { as: target.as, params: { orgId } })
    await give(0)
    expect((await keys()).status).toBe(403)
    expect((await complete()).error?.message).toBe('1 of 2 shares were contributed')
    await give(2)
    expect((await keys()).status).toBe(200)
    expect((await world.call(recovery.envKeys, { as: (custodians[0] as Actor).as, params: { orgId } })).status).toBe(
      403,
    )
    expect((await complete()).body).toMatchObject({ granted: 1, request: { status: 'completed', contributed: 2 } })
    const own = await world.call(grants.own, { as: target.as, params: { orgId, envId } })
    expect(own.body.wrappedDek).toBe(grant.wrappedDek)
    const { shares } = await get()
    expect(shares.map(({ contributedShare }) => contributedShare)).toEqual([null, null])
    expect((await keys()).status).toBe(403)
    expect((await world.call(recoveryRequests.get, { as: (custodians[1] as Actor).as, params })).status).toBe(403)
  })

  test('accepts each share once, from its own custodian', async () => {
    const { give, custodians, get } = await scene()
    await give(0)
    expect((await give(0)).error?.message).toBe('you have already contributed to this request')
    expect((await give(1, {}, custodians[0])).error?.message).toBe('body.shareIndex: your share is number 1')
    expect((await give(1, { shareIndex: 3 })).status).toBe(400)
    expect((await get()).request.contributed).toBe(1)
  })

  test('can be completed only for its target and for covered environments, and a refusal changes nothing', async () => {
    const { give, complete, custodians, tenant, grant, as } = await scene()
    for (const index of [0, 1]) await give(index)
    const uncovered = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    const before = await stateOf(world)
    const admin = { as, id: tenant.admin.id }
    for (const [more, by, says] of [
      [{ principalId: (custodians[0] as Actor).id }, admin, 'body.principalId: not the target of this request'],
      [{ principalType: 'service_token' }, admin, 'body.principalId: not the target'],
      [{ grants: [] }, admin, 'body.grants: no key is given'],
      [{ grants: [grant, grant] }, admin, 'is named twice'],
      [{ grants: [{ ...grant, environmentId: uncovered }] }, admin, 'does not cover this environment'],
      [{}, custodians[0] as Actor, 'only an admin or the person whom the recovery is for may do this'],
    ] as const)
      expect((await complete(more, by)).error?.message).toContain(says)
    expect(await stateOf(world)).toEqual(before)
  })

  test('fails if its target has replaced the keys, or if it names another key than the target’s', async () => {
    const { give, complete, target, orgId, as } = await scene()
    const ask = async (body: object) =>
      (await world.call(recoveryRequests.open, { as, params: { orgId }, body: body as never })).error?.message
    const named = { targetType: 'user', targetId: target.id }
    expect(await ask({ ...named, targetPublicKeyJwk: publicKeyJwk() })).toContain('not the public key of the target')
    expect(await ask({ targetType: 'user', targetPublicKeyJwk: publicKeyJwk() })).toContain(
      'give both targetType and targetId, or neither',
    )
    expect(await ask({ ...named, drill: true, targetPublicKeyJwk: publicKeyJwk() })).toContain('a drill has no target')
    for (const index of [0, 1]) await give(index)
    const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    await world.call(me.replaceKeys, { as: target.as, body: keys })
    const changed = 'the keys of the target have changed since the request was opened'
    expect((await give(2)).error?.message).toBe(changed)
    expect((await complete()).error?.message).toBe(changed)
  })

  test('is answered again to a repeated call, until it is closed or the target has another key', async () => {
    const { tenant, orgId, as, target, id, cancel } = await scene()
    const open = async (by = as, more: object = {}) =>
      world.call(recoveryRequests.open, {
        as: by,
        params: { orgId },
        body: { targetPublicKeyJwk: await keyOf(world, target), targetType: 'user', targetId: target.id, ...more },
      })
    const before = await stateOf(world)
    const again = await open(as, { reason: 'the same again' })
    expect([again.status, again.body.request]).toEqual([200, expect.objectContaining({ id, reason: null })])
    expect(await stateOf(world)).toEqual(before)
    const admin = await newMember(world, tenant, 'admin')
    const others = await Promise.all([open(admin.as), open(admin.as)])
    expect(others.map(({ status }) => status).sort()).toEqual([200, 201])
    expect(new Set([id, ...others.map(({ body }) => body.request.id)]).size).toBe(2)
    await cancel()
    const next = await open()
    expect(next.status).toBe(201)
    const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    await world.call(me.replaceKeys, { as: target.as, body: keys })
    const renewed = await open()
    expect([renewed.status, renewed.body.request.id === next.body.request.id]).toEqual([201, false])
  })

  test('cannot be opened with fewer custodians than the threshold, or without recovery', async () => {
    const { tenant, orgId, as, custodians, target } = await scene(3)
    const open = async () =>
      world.call(recoveryRequests.open, {
        as,
        params: { orgId },
        body: { targetPublicKeyJwk: await keyOf(world, target), targetType: 'user', targetId: target.id },
      })
    await world.server.context.db.rows('delete from memberships where user_id = $1', [(custodians[0] as Actor).id])
    expect((await open()).error?.message).toBe('3 shares are needed and 2 custodians are left: set up recovery again')
    await world.call(recovery.disable, { as, params: { orgId: tenant.orgId } })
    expect((await open()).error?.message).toBe('recovery is not set up')
  })

  test('is visible to its custodians and its target, and not to other members', async () => {
    const { tenant, orgId, params, target, custodians } = await scene()
    const other = await newMember(world, tenant)
    const seen = async ({ as }: Actor) => [
      (await world.call(recoveryRequests.list, { as, params: { orgId } })).body.requests?.length,
      (await world.call(recoveryRequests.get, { as, params })).status,
    ]
    expect(await seen(target)).toEqual([1, 200])
    expect(await seen(custodians[0] as Actor)).toEqual([1, 200])
    expect(await seen(other)).toEqual([undefined, 403])
  })

  test('expires after seven days: at once for its readers, and in the table at the next sweep', async () => {
    const { give, cancel, get } = await scene()
    await give(0)
    world.clock.advance(limits.recoveryRequestTtlSeconds + 1)
    expect((await get()).request.status).toBe('expired')
    await expire(world.server.context)
    const { request, shares } = await get()
    expect([request.status, shares.map((one) => one.contributedShare)]).toEqual(['expired', [null]])
    expect((await cancel()).error?.message).toBe('the recovery request is expired')
  })
})

test('a drill gives nobody any key, and its date is recorded', async () => {
  const { orgId, as, custodians, grant } = await scene()
  const body = { targetPublicKeyJwk: publicKeyJwk(), drill: true }
  const opened = await world.call(recoveryRequests.open, { as, params: { orgId }, body })
  const params = { orgId, recoveryRequestId: opened.body.request.id }
  for (const [index, custodian] of custodians.slice(0, 2).entries())
    await world.call(recoveryRequests.contribute, {
      as: custodian.as,
      params,
      body: { shareIndex: index + 1, contributedShare: wrappedKey() },
    })
  const complete = (more: object) =>
    world.call(recoveryRequests.complete, { as, params, body: { grants: [], ...more } })
  expect((await complete({ grants: [grant] })).error?.message).toBe('body.grants: a drill grants no keys')
  expect((await complete({})).body).toMatchObject({ granted: 0, request: { status: 'completed' } })
  const { body: now } = await world.call(recovery.get, { as, params: { orgId } })
  const agoMs = world.clock.now().getTime() - Date.parse(now.recovery?.lastDrillAt as string)
  expect(agoMs >= 0 && agoMs < 600_000).toBe(true)
})

describe.skipIf(isQuick)('a recovery request in the state', () => {
  const statuses: Status[] = ['open', 'completed', 'cancelled', 'expired']
  const triggers: Exclude<Trigger, 'expire'>[] = ['contribute', 'complete', 'cancel']
  test.each(statuses.flatMap((from) => triggers.map((by) => [from, by] as const)))(
    '%s reacts to %s as its lifecycle table says',
    async (from, by) => {
      const { give, complete, cancel, get, id } = await scene()
      for (const index of [0, 1]) await give(index)
      await world.server.context.db.rows('update recovery_requests set status = $2 where id = $1', [id, from])
      const answer = await { contribute: () => give(2), complete: () => complete(), cancel }[by]()
      const to = requestLifecycle.next(from, by)
      expect(answer.status < 300).toBe(to !== undefined)
      if (to === undefined) expect(answer.error?.message).toBe(`the recovery request is ${from}`)
      expect((await get()).request.status).toBe(to ?? from)
    },
  )
})

test('simultaneous contributions and a rotation leave nothing half done', async () => {
  const { give, orgId, as, custodians, get, envId } = await scene()
  const body = recoveryBody(custodians, 2, [envId])
  const answers = await Promise.all([
    give(0),
    give(1),
    give(2),
    give(0),
    world.call(recovery.rotate, { as, params: { orgId }, body }),
  ])
  expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([])
  const { request, shares } = await get()
  expect(request.status).toBe('cancelled')
  expect(shares.every(({ contributedShare }) => contributedShare === null)).toBe(true)
})
