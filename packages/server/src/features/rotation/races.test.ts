import { grants } from '@skerry/contract/grants/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { newDek } from '@skerry/crypto/secret'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generatedRotation, newKeyedEnv, wrappedForRotator } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { missingPostgres } from '../../../test/services/postgres.ts'
import { newShopTarget, openShop, type Shop } from '../../../test/shop.ts'
import { stopSchedules } from '../../../test/state.ts'

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin

const create = (body: object) => world.call(rotation.create, { as, params: { orgId }, body: body as never })
const sorted = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

describe('first policies of one environment', () => {
  test('created at once are all stored, with one grant to the rotator', async () => {
    const env = await newKeyedEnv(world, tenant)
    const bodies = []
    for (const secretName of ['A', 'B', 'C', 'D'])
      bodies.push(await generatedRotation(world, tenant, env, { secretName, rotateNow: true }))
    const answers = await Promise.all(bodies.map(create))
    expect(answers.map(({ error }) => error?.message)).toEqual([undefined, undefined, undefined, undefined])
    expect(sorted(answers)).toEqual([201, 201, 201, 201])
    const { body } = await world.call(grants.list, { as, params: { orgId, envId: env.envId } })
    expect(body.grants.filter(({ principalType }) => principalType === 'rotator')).toHaveLength(1)
    for (const secretName of ['A', 'B', 'C', 'D']) expect(await env.read(secretName)).toMatch(/^[A-Za-z0-9]{32}$/)
  })

  test('created at once use the right key, even if one request brings the key of another environment', async () => {
    const env = await newKeyedEnv(world, tenant)
    const right = await generatedRotation(world, tenant, env, { secretName: 'A' })
    const wrappedDek = await wrappedForRotator(world, tenant, newDek())
    const answers = await Promise.all([create(right), create({ ...right, secretName: 'B', wrappedDek })])
    expect(answers[0].status).toBe(201)
    expect([201, 400]).toContain(answers[1].status)
    const { rotation: made } = answers[0].body
    expect((await world.call(rotation.rotate, { as, params: { orgId, rotationId: made.id } })).status).toBe(200)
    expect(await env.read('A')).toMatch(/^[A-Za-z0-9]{32}$/)
  })
})

describe.skipIf(missingPostgres())('policies of an account on a target', () => {
  let shop: Shop
  let targetId: string
  beforeAll(async () => {
    shop = await openShop(['app'])
    targetId = await newShopTarget(world, tenant, shop)
  })
  afterAll(() => shop.stop())

  const bodyOf = async () => {
    const env = await newKeyedEnv(world, tenant)
    await env.put('DB_PASSWORD', 'first-password')
    const config = { kind: 'postgres', username: 'app' }
    return generatedRotation(world, tenant, env, { secretName: 'DB_PASSWORD', config, targetId })
  }
  const removeAll = async () => {
    const { rotations } = (await world.call(rotation.list, { as, params: { orgId } })).body
    for (const { id } of rotations)
      await world.call(rotation.delete, { as, params: { orgId, rotationId: id }, query: { force: 'true' } })
  }
  const deleteTarget = () =>
    world.call(leases.deleteTarget, { as, params: { orgId, targetId }, query: { force: 'true' } })

  test('created at once in three environments are stored once and refused twice', async () => {
    await removeAll()
    const answers = await Promise.all([await bodyOf(), await bodyOf(), await bodyOf()].map(create))
    expect(sorted(answers)).toEqual([201, 409, 409])
    const refused = answers.filter(({ status }) => status === 409).map(({ error }) => error?.message)
    const message = 'a policy of another environment rotates the account app already: an account belongs to one policy'
    expect(refused).toEqual([message, message])
  })

  test('keep the target from being deleted; a policy that is created meanwhile is stored or finds no target', async () => {
    await removeAll()
    const body = await bodyOf()
    expect((await create(body)).status).toBe(201)
    const refused = await deleteTarget()
    expect([refused.status, refused.error?.message]).toEqual([
      409,
      expect.stringMatching(
        /^rotation policies use this target: DB_PASSWORD in [\w-]+\/[\w-]+\. Delete these policies first$/,
      ),
    ])
    await removeAll()
    const [created, deleted] = await Promise.all([create(body), deleteTarget()])
    expect([
      [201, 409],
      // The target was deleted before the account was checked, or during the check.
      [404, 200],
      [409, 200],
    ]).toContainEqual([created.status, deleted.status])
  })
})
