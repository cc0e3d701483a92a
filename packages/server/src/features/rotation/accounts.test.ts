import { grants } from '@skerry/contract/grants/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { newDek, sealSecret } from '@skerry/crypto/secret'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { type KeyedEnv, keyedEnv, newKeyedEnv, wrappedForRotator } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { missingPostgres } from '../../../test/services/postgres.ts'
import { openWire, type Wire } from '../../../test/services/wire.ts'
import { adminPassword, newShopTarget, openShop, type Shop } from '../../../test/shop.ts'
import { stateOf, stopSchedules } from '../../../test/state.ts'

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server

describe.skipIf(missingPostgres())('a rotated account of PostgreSQL', () => {
  let shop: Shop
  let wire: Wire
  let targetId: string
  let env: KeyedEnv
  let rotationId: string
  beforeAll(async () => {
    shop = await openShop(['app', 'app_b', 'app_a'])
    wire = await openWire(`tcp://127.0.0.1:${shop.connection.port}`)
    const connection = { ...shop.connection, port: Number(new URL(wire.url).port) }
    targetId = await newShopTarget(world, tenant, { ...shop, connection })
  })
  afterAll(async () => {
    await wire.close()
    await shop.stop()
  })
  beforeEach(async () => {
    wire.onConnect(null)
    env = await newKeyedEnv(world, tenant)
    await shop.root.query(`ALTER ROLE app PASSWORD 'first-password'; ALTER ROLE app LOGIN`)
    await env.put('DB_PASSWORD', 'first-password')
  })
  // An account belongs to one policy, so each test deletes its policies at the end.
  afterEach(async () => {
    wire.onConnect(null)
    const { rotations } = (await world.call(rotation.list, { as, params: { orgId } })).body
    for (const { id } of rotations)
      await world.call(rotation.delete, { as, params: { orgId, rotationId: id }, query: { force: 'true' } })
  })

  /** Simulates a server that dies: from this connection on, every connection fails. */
  const dying = (at: number) => {
    let count = 0
    return async () => {
      if (++count >= at) throw new Error('cut')
    }
  }

  const create = async (more: object = {}) => {
    const answer = await world.call(rotation.create, {
      as,
      params: { orgId },
      body: {
        environmentId: env.envId,
        secretName: 'DB_PASSWORD',
        config: { kind: 'postgres', username: 'app' },
        intervalSeconds: 3600,
        targetId,
        wrappedDek: await wrappedForRotator(world, tenant, env.bytes),
        ...more,
      } as never,
    })
    if (answer.status < 300) rotationId = answer.body.rotation.id
    return answer
  }
  const params = () => ({ orgId, rotationId })
  const rotate = () => world.call(rotation.rotate, { as, params: params() })
  const read = async () => (await world.call(rotation.get, { as, params: params() })).body.rotation
  const pending = () => context.db.rows('select 1 from rotation_pending where rotation_id = $1', [rotationId])
  /** Whether the application can sign in with the current version of the secret. */
  const works = async () => shop.signsIn('app', await env.read('DB_PASSWORD'))

  test('signs in only with its new password, of which the target gets a SCRAM verifier alone', async () => {
    const { status, body } = await create({ rotateNow: true })
    expect([status, body.version, body.rotation.lastError]).toEqual([201, 2, null])
    expect([await works(), await shop.signsIn('app', 'first-password')]).toEqual([true, false])
    const stored = await shop.root.query(`SELECT rolpassword FROM pg_authid WHERE rolname = 'app'`)
    expect(stored.rows[0].rolpassword).toMatch(/^SCRAM-SHA-256\$/)
    expect(await pending()).toEqual([])
  })

  test('keeps its open sessions during a rotation', async () => {
    await create()
    const { default: pg } = await import('pg')
    const client = new pg.Client({ ...shop.connection, user: 'app', password: 'first-password' })
    await client.connect()
    expect((await rotate()).status).toBe(200)
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    await client.end()
  })

  test.each([
    ['that does not exist', { username: 'nobody_here' }, 409, 'target: there is no account nobody_here'],
    ['that is the target’s own admin', { username: 'skerry_admin' }, 400, 'own admin account'],
    ['with a name that could leave its quotes', { username: `x"; DROP ROLE app; --` }, 400, 'body.config.username'],
    ['with statements without the verifier', { statements: ['ALTER ROLE {{username}}'] }, 400, '{{verifier}}'],
    ['with an unknown placeholder', { statements: ['ALTER ROLE {{password}}'] }, 400, '{{password}}'],
    ['that alternates with itself', { alternateUsername: 'app', usernameSecret: 'DB_USER' }, 400, 'the same account'],
    [
      'that alternates without a secret for the user name',
      { alternateUsername: 'app_b' },
      400,
      'usernameSecret: needed',
    ],
  ])('%s is refused, and nothing is changed', async (_, more, status, message) => {
    await wrappedForRotator(world, tenant, env.bytes)
    const before = await stateOf(world)
    const answer = await create({ config: { kind: 'postgres', username: 'app', ...more } })
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
    expect(await stateOf(world)).toEqual(before)
    expect(await works()).toBe(true)
  })

  test('can be rotated with custom statements', async () => {
    const statements = [
      `ALTER ROLE "{{username}}" PASSWORD '{{verifier}}'`,
      `COMMENT ON ROLE {{username}} IS 'rotated'`,
    ]
    const config = { kind: 'postgres', username: 'app', statements }
    await shop.root.query(`GRANT app TO skerry_admin WITH ADMIN OPTION`)
    expect((await create({ config, rotateNow: true })).body.version).toBe(2)
    expect(await works()).toBe(true)
  })

  test('that cannot sign in with its new password gets the old one back', async () => {
    await create()
    // The second connection of the run is the one that tries the new password.
    let count = 0
    wire.onConnect(async () => {
      if (++count === 2) await shop.root.query(`ALTER ROLE app PASSWORD 'meddled-with'`)
    })
    const answer = await rotate()
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringContaining('does not sign in')])
    expect([await works(), await env.read('DB_PASSWORD')]).toEqual([true, 'first-password'])
    expect([(await read()).failureStreak, await pending()]).toEqual([1, []])
  })

  test('of an unreachable target keeps its password, and the rotation fails with the reason', async () => {
    await create()
    wire.onConnect(dying(1))
    const answer = await rotate()
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringContaining('target: ')])
    wire.onConnect(null)
    expect([await works(), await env.read('DB_PASSWORD')]).toEqual([true, 'first-password'])
    expect((await rotate()).status).toBe(200)
    expect([await works(), await pending()]).toEqual([true, []])
  })

  test('whose first rotation fails still gets its policy, and the answer has no version', async () => {
    // The first connection checks the account before the policy is stored. The rotation then finds the target
    // unreachable.
    wire.onConnect(dying(2))
    const { status, body } = await create({ rotateNow: true })
    wire.onConnect(null)
    expect([status, Object.keys(body)]).toEqual([201, ['rotation']])
    expect(body.rotation).toMatchObject({ failureStreak: 1, lastError: expect.any(String) })
    expect([await works(), await env.read('DB_PASSWORD')]).toEqual([true, 'first-password'])
  })

  test.each([
    [1, 'before the target was changed', 'first-password'],
    [2, 'after the target was changed', null],
  ])(
    'whose rotation was cut off at connection %i, %s, works after the next run, and nothing is pending',
    async (at, _, left) => {
      await create()
      wire.onConnect(dying(at))
      expect((await rotate()).status).toBe(409)
      expect(await pending()).toHaveLength(1)
      // Nothing has resolved the rotation yet, so the secret has its old version, whichever password the target accepts.
      expect(await env.read('DB_PASSWORD')).toBe('first-password')
      expect(await shop.signsIn('app', 'first-password')).toBe(left !== null)
      wire.onConnect(null)
      world.clock.advance(60)
      expect((await rotate()).status).toBe(200)
      expect([await works(), await pending()]).toEqual([true, []])
    },
  )

  test('whose rotation was cut off before its version was stored keeps its new password, which the next run stores', async () => {
    await create()
    await context.db.script(`create function die() returns trigger language plpgsql as $$
        begin raise exception 'the server has died'; end $$;
      create trigger die before insert on secret_versions for each row execute function die()`)
    expect((await rotate()).status).toBe(500)
    await context.db.script('drop trigger die on secret_versions; drop function die()')
    const before = await shop.root.query(`SELECT rolpassword FROM pg_authid WHERE rolname = 'app'`)
    expect([await works(), (await pending()).length]).toEqual([false, 1])
    world.clock.advance(60)
    expect((await rotate()).body.version).toBe(2)
    const after = await shop.root.query(`SELECT rolpassword FROM pg_authid WHERE rolname = 'app'`)
    expect([await works(), await pending(), after.rows]).toEqual([true, [], before.rows])
  })

  test('whose grant is revoked during the rotation gets the old password back', async () => {
    await create()
    const held = await world.call(grants.list, { as, params: { orgId, envId: env.envId } })
    const grant = held.body.grants.find(({ principalType }) => principalType === 'rotator')
    let count = 0
    wire.onConnect(async () => {
      if (++count === 2)
        await world.call(grants.delete, { as, params: { orgId, envId: env.envId, grantId: grant?.id as string } })
    })
    expect((await rotate()).status).toBe(409)
    expect([await works(), await env.read('DB_PASSWORD'), await pending()]).toEqual([true, 'first-password', []])
  })

  const rekeyed = async (bytes: ReturnType<typeof newDek>) => {
    const value = (await env.read('DB_PASSWORD')) as string
    const next = await keyedEnv(world, tenant, env.envId, bytes)
    const { body } = await world.call(rekey.run, {
      as,
      params: { orgId, envId: env.envId },
      body: {
        expectedVersions: { DB_PASSWORD: 1 },
        secrets: [{ name: 'DB_PASSWORD', ciphertext: await sealSecret(value, next.dek, env.envId, 'DB_PASSWORD') }],
        grants: [
          { principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() },
          { principalType: 'rotator', principalId: orgId, wrappedDek: await wrappedForRotator(world, tenant, bytes) },
        ],
      },
    })
    expect(body.rekeyedSecrets).toBe(1)
    return next
  }

  test('whose environment is re-keyed during the rotation has its new password encrypted under the new key', async () => {
    await create()
    let count = 0
    let next = env
    wire.onConnect(async () => {
      if (++count === 2) next = await rekeyed(newDek())
    })
    expect((await rotate()).body.version).toBe(3)
    expect(await shop.signsIn('app', await next.read('DB_PASSWORD'))).toBe(true)
  })

  test('gets the old password back if a re-key made the pending new password unreadable', async () => {
    await create()
    wire.onConnect(dying(2))
    await rotate()
    wire.onConnect(null)
    const next = await rekeyed(newDek())
    world.clock.advance(60)
    const answer = await world.call(rotation.delete, { as, params: params() })
    expect(answer.body).toEqual({ ok: true, rotatorRevoked: true })
    expect(await next.read('DB_PASSWORD')).toBe('first-password')
    expect(await shop.signsIn('app', 'first-password')).toBe(true)
  })

  test('must have its pending rotation resolved before its policy is deleted, except by force', async () => {
    await create()
    wire.onConnect(dying(2))
    await rotate()
    world.clock.advance(60)
    wire.onConnect(dying(1))
    expect((await world.call(rotation.delete, { as, params: params() })).status).toBe(409)
    expect((await world.call(rotation.delete, { as, params: params(), query: { force: 'true' } })).status).toBe(200)
  })

  test('alternates with a second account, so that the previous password works until the next rotation', async () => {
    await env.put('DB_USER', 'app_a')
    const config = { kind: 'postgres', username: 'app_a', alternateUsername: 'app_b', usernameSecret: 'DB_USER' }
    expect((await create({ config })).status).toBe(201)
    const seen: [string, string][] = [['app_a', 'first-password']]
    for (const expected of ['app_b', 'app_a', 'app_b']) {
      expect((await rotate()).status).toBe(200)
      const now: [string, string] = [(await env.read('DB_USER')) as string, (await env.read('DB_PASSWORD')) as string]
      expect(now[0]).toBe(expected)
      const before = seen.at(-1) as [string, string]
      expect([await shop.signsIn(...now), await shop.signsIn(...before)]).toEqual([true, true])
      seen.push(now)
    }
  })

  test('leaves no password in a row, a log line or an answer', async () => {
    await create({ rotateNow: true })
    const value = (await env.read('DB_PASSWORD')) as string
    const { tableDump } = await import('../../../test/state.ts')
    const seen = [...(await tableDump(world)).map(({ text }) => text), ...world.log, ...world.answers].join('\n')
    for (const secret of [value, 'first-password', adminPassword, 'SCRAM-SHA-256$']) expect(seen).not.toContain(secret)
  })
})
