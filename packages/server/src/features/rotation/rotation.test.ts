import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { newDek, sealSecret } from '@skerry/crypto/secret'
import { beforeEach, describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import {
  generatedRotation,
  type KeyedEnv,
  keyedEnv,
  newKeyedEnv,
  newRotation,
  wrappedForRotator,
} from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stateOf, stopSchedules } from '../../../test/state.ts'
import { grantKey, newMember, newToken } from '../../../test/tenant.ts'
import { system } from '../../kernel/audit.ts'
import { expireBranches } from '../branches/jobs.ts'
import { sweep } from './jobs.ts'
import { rotationLifecycle, type Trigger } from './lifecycle.ts'
import { runRotation } from './run.ts'
import { nextAfter, retryAfter } from './schedule.ts'

const { world, tenant } = await openTenant()
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server

let env: KeyedEnv
beforeEach(async () => {
  env = await newKeyedEnv(world, tenant)
})

const bodyOf = (more: object = {}) => generatedRotation(world, tenant, env, more)
const create = async (more: object = {}, by = as) =>
  world.call(rotation.create, { as: by, params: { orgId }, body: (await bodyOf(more)) as never })
const params = (rotationId: string) => ({ orgId, rotationId })
const read = async (id: string) => (await world.call(rotation.get, { as, params: params(id) })).body.rotation
const rotate = (id: string, by = as) => world.call(rotation.rotate, { as: by, params: params(id) })
const remove = (id: string) => world.call(rotation.delete, { as, params: params(id) })
const patch = (id: string, body: object) => world.call(rotation.update, { as, params: params(id), body })
const granted = async () =>
  (await world.call(rotation.rotatorKey, { as, params: { orgId } })).body.grantedEnvironmentIds
const holders = async () => {
  const { body } = await world.call(grants.list, { as, params: { orgId, envId: env.envId } })
  return body.grants.filter(({ principalType }) => principalType === 'rotator')
}
const entriesOf = async (action: string) =>
  (await world.call(audit.list, { as, params: { orgId }, query: { action, limit: 200 } })).body.entries
const runDue = (id: string) => runRotation(context, { orgId, id }, { origin: system, onlyDue: true })

describe('a policy', () => {
  test('is answered without a value, and its first run creates the missing secret', async () => {
    const { status, body } = await create({ rotateNow: true })
    expect([status, body.version]).toEqual([201, 1])
    expect(body.rotation).toMatchObject({
      environmentId: env.envId,
      secretName: 'ROTATED',
      kind: 'generated',
      config: { kind: 'generated' },
      targetId: null,
      status: 'active',
      lastVersion: 1,
      lastError: null,
      failureStreak: 0,
    })
    const value = await env.read('ROTATED')
    expect(value).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(world.answers.join()).not.toContain(value)
    const list = await world.call(rotation.list, { as, params: { orgId } })
    expect(list.body.rotations.map(({ id }) => id)).toContain(body.rotation.id)
  })

  test.each([
    [{}, /^[A-Za-z0-9]{32}$/],
    [{ length: 8, alphabet: 'hex' }, /^[0-9a-f]{8}$/],
    [{ length: 1024, alphabet: 'base64url' }, /^[\w-]{1024}$/],
    [{ length: 64, alphabet: 'ascii' }, /^[\x21-\x7e]{64}$/],
    [{ length: 40, alphabet: '01' }, /^[01]{40}$/],
  ])('generates values as the config %o says', async (more, pattern) => {
    await create({ config: { kind: 'generated', ...more }, rotateNow: true })
    expect(await env.read('ROTATED')).toMatch(pattern)
  })

  test('writes a version as the rotator at each run, and the audit log says so', async () => {
    const { body } = await create({ rotateNow: true })
    const first = await env.read('ROTATED')
    const again = await rotate(body.rotation.id)
    expect([again.status, again.body.version, again.body.rotatedAt]).toEqual([200, 2, again.body.rotation.lastRunAt])
    expect(await env.read('ROTATED')).not.toBe(first)
    const inEnv = { orgId, envId: env.envId, name: 'ROTATED' }
    const history = await world.call(secrets.versions, { as, params: inEnv })
    for (const one of history.body.versions) expect([one.createdByType, one.createdById]).toEqual(['rotator', orgId])
    const entry = (await entriesOf('secret.written')).find(({ metadata }) => metadata.rotationId === body.rotation.id)
    expect(entry).toMatchObject({ actorType: 'rotator', metadata: { environmentId: env.envId, version: 2 } })
  })

  test('also writes in a protected environment, and its audit entries say so', async () => {
    const inEnv = { orgId, envId: env.envId }
    const { body } = await create()
    await world.call(protection.put, { as, params: inEnv, body: {} })
    expect((await rotate(body.rotation.id)).body.version).toBe(1)
    const entries = [...(await entriesOf('secret.written')), ...(await entriesOf('rotation.completed'))]
    const own = entries.filter(({ metadata }) => metadata.rotationId === body.rotation.id)
    expect(own.map(({ metadata }) => metadata.protected)).toEqual([true, true])
  })

  test('for a secret that already has a policy replaces it and keeps its id', async () => {
    const first = (await create()).body.rotation
    const second = await create({ intervalSeconds: 600, config: { kind: 'generated', length: 9 } })
    expect([second.status, second.body.rotation.id]).toEqual([200, first.id])
    expect(second.body.rotation).toMatchObject({ intervalSeconds: 600, config: { kind: 'generated', length: 9 } })
  })

  test.each([
    ['no key', { wrappedDek: undefined }, 400, 'body.wrappedDek: is required'],
    ['a key wrapped to another', { wrappedDek: wrappedKey() }, 400, 'body.wrappedDek: '],
    ['a length under its limit', { config: { kind: 'generated', length: 7 } }, 400, 'body.config.length'],
    ['a character twice', { config: { kind: 'generated', alphabet: 'aba' } }, 400, 'body.config.alphabet'],
    ['a field of another kind', { config: { kind: 'generated', username: 'a' } }, 400, 'username'],
    ['a target that it does not use', { targetId: `ltg_${'a'.repeat(22)}` }, 400, 'body.targetId: generated reaches'],
    ['no target', { config: { kind: 'postgres', username: 'app' } }, 400, 'body.targetId: needed for postgres'],
    ['an interval under five minutes', { intervalSeconds: 299 }, 400, 'body.intervalSeconds'],
    ['an interval over a year', { intervalSeconds: 31_536_001 }, 400, 'body.intervalSeconds'],
    ['an unknown environment', { environmentId: `env_${'a'.repeat(22)}` }, 404, 'body.environmentId: no such env'],
  ])('with %s is refused, and nothing is changed', async (_, more, status, message) => {
    const body = await bodyOf(more)
    const before = await stateOf(world)
    const answer = await world.call(rotation.create, { as, params: { orgId }, body: body as never })
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
    expect(await stateOf(world)).toEqual(before)
  })

  test('with a key that is not the environment’s is refused', async () => {
    await env.put('OTHER', 'value')
    const wrong = await wrappedForRotator(world, tenant, newDek())
    const { status, error } = await create({ wrappedDek: wrong })
    expect([status, error?.message]).toEqual([400, expect.stringMatching(/^body.wrappedDek: .*does not open/)])
    expect(await holders()).toEqual([])
  })

  test('in an environment without any secret is refused, because no secret can prove the key', async () => {
    for (const bytes of [newDek(), env.bytes]) {
      const body = { ...(await bodyOf()), wrappedDek: await wrappedForRotator(world, tenant, bytes), rotateNow: true }
      await world.call(secrets.delete, { as, params: { orgId, envId: env.envId, name: 'PRESENT' } })
      const before = await stateOf(world)
      const { status, error } = await world.call(rotation.create, { as, params: { orgId }, body })
      expect([status, error?.message]).toEqual([409, expect.stringContaining('write a secret there first')])
      expect(await stateOf(world)).toEqual(before)
    }
  })

  test('whose environment has lost all its secrets before the first run writes none', async () => {
    const { id } = (await create()).body.rotation
    await world.call(secrets.delete, { as, params: { orgId, envId: env.envId, name: 'PRESENT' } })
    const { status, error } = await rotate(id)
    expect([status, error?.message]).toEqual([409, expect.stringContaining('write a secret there first')])
    expect((await env.readAll()).size).toBe(0)
  })

  test('can be created only by a caller who has the environment’s key', async () => {
    const stranger = await newMember(world, tenant, 'admin')
    const machine = await create({}, tenant.machine.as)
    const person = await create({}, stranger.as)
    expect([machine.status, person.status]).toEqual([403, 403])
    await grantKey(world, tenant, env.envId, stranger)
    expect((await create({}, stranger.as)).status).toBe(201)
  })

  test('can be managed by a bound admin token only in its own environment', async () => {
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: env.envId })
    await grantKey(world, tenant, env.envId, bound)
    const own = (await create({}, bound.as)).body.rotation
    expect((await rotate(own.id, bound.as)).status).toBe(200)
    const elsewhere = await newKeyedEnv(world, tenant)
    const other = await newRotation(world, tenant, await generatedRotation(world, tenant, elsewhere))
    expect((await rotate(other.rotation.id, bound.as)).status).toBe(403)
    const list = await world.call(rotation.list, { as: bound.as, params: { orgId } })
    expect(list.body.rotations.map(({ id }) => id)).toEqual([own.id])
  })

  test('changes its status as its lifecycle table says, and resuming clears its failures', async () => {
    const { id } = (await create()).body.rotation
    const triggers = {
      pause: () => patch(id, { status: 'paused' }),
      resume: () => patch(id, { status: 'active' }),
      configure: () => create(),
    } satisfies Record<Trigger, unknown>
    for (const [from, trigger, to] of rotationLifecycle.moves) {
      await patch(id, { status: from })
      const { body } = await triggers[trigger]()
      expect([from, trigger, body.rotation.status]).toEqual([from, trigger, to])
      expect(body.rotation.nextRunAt === null).toBe(to === 'paused')
    }
    await patch(id, { status: 'paused' })
    expect((await rotate(id)).body.rotation).toMatchObject({ status: 'paused', nextRunAt: null, lastVersion: 1 })
  })

  test('refuses a config of another kind', async () => {
    const { id } = (await create()).body.rotation
    const answer = await patch(id, { config: { kind: 'postgres', username: 'app' } })
    expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining('body.config.kind')])
  })
})

describe('the rotator’s grant', () => {
  test('is given by no holder whose access ends, but such a holder uses one that is there', async () => {
    const admin = await newMember(world, tenant, 'admin')
    await grantKey(world, tenant, env.envId, admin, { seconds: limits.grantSecondsMin })
    const refused = await create({}, admin.as)
    const words = /^your own access ends at .* the rotator keeps the key: ask an admin/
    expect([refused.status, refused.error?.message]).toEqual([409, expect.stringMatching(words)])
    expect([await holders(), await granted()].flat()).not.toContain(env.envId)
    await create()
    expect((await create({ secretName: 'ANOTHER', wrappedDek: undefined }, admin.as)).status).toBe(201)
  })

  test('is read for each run, so that revoking it stops the rotation', async () => {
    const { id } = (await create({ rotateNow: true })).body.rotation
    const before = await env.read('ROTATED')
    const [grant] = await holders()
    await world.call(grants.delete, { as, params: { orgId, envId: env.envId, grantId: grant?.id as string } })
    const answer = await rotate(id)
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringContaining('its grant was revoked')])
    expect(await env.read('ROTATED')).toBe(before)
    expect(await read(id)).toMatchObject({ failureStreak: 1, status: 'active' })
  })

  test('is deleted with the environment’s last policy, and not before', async () => {
    const one = (await create()).body.rotation
    const two = (await create({ secretName: 'ANOTHER', wrappedDek: undefined })).body.rotation
    expect(await granted()).toContain(env.envId)
    expect((await remove(one.id)).body).toEqual({ ok: true, rotatorRevoked: false })
    expect((await remove(two.id)).body).toEqual({ ok: true, rotatorRevoked: true })
    expect([await holders(), (await granted()).includes(env.envId)]).toEqual([[], false])
    expect((await world.call(rotation.get, { as, params: params(two.id) })).status).toBe(404)
  })

  test('follows the environment to a new key, and rotation continues', async () => {
    const { id } = (await create({ rotateNow: true })).body.rotation
    const value = (await env.read('ROTATED')) as string
    const bytes = newDek()
    const next = await keyedEnv(world, tenant, env.envId, bytes)
    const answer = await world.call(rekey.run, {
      as,
      params: { orgId, envId: env.envId },
      body: {
        expectedVersions: { ROTATED: 1, PRESENT: 1 },
        secrets: [
          { name: 'ROTATED', ciphertext: await sealSecret(value, next.dek, env.envId, 'ROTATED') },
          { name: 'PRESENT', ciphertext: await sealSecret('since before', next.dek, env.envId, 'PRESENT') },
        ],
        grants: [
          { principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() },
          { principalType: 'rotator', principalId: orgId, wrappedDek: await wrappedForRotator(world, tenant, bytes) },
        ],
      },
    })
    expect(answer.status).toBe(200)
    expect((await rotate(id)).body.version).toBe(3)
    expect(await next.read('ROTATED')).toMatch(/^[A-Za-z0-9]{32}$/)
  })
})

describe('the deletion of a policy', () => {
  test('follows that of its environment, with an audit entry that names the cause', async () => {
    const { id } = (await create()).body.rotation
    await world.call(envs.delete, { as, params: { orgId, envId: env.envId } })
    expect((await world.call(rotation.get, { as, params: params(id) })).status).toBe(404)
    const entry = (await entriesOf('rotation.deleted')).find(({ resourceId }) => resourceId === id)
    expect(entry?.metadata).toMatchObject({ secretName: 'ROTATED', cause: 'env.deleted', causeId: env.envId })
  })

  test('follows that of its application, and the expiry of its branch', async () => {
    const { body: parent } = await world.call(envs.get, { as, params: { orgId, envId: env.envId } })
    const inEnv = { orgId, envId: env.envId }
    const fork = { slug: 'short', wrappedDek: wrappedKey(), ttlSeconds: 60 }
    const branch = (await world.call(branches.create, { as, params: inEnv, body: fork })).body.branch
    const ofBranch = await generatedRotation(world, tenant, await newKeyedEnv(world, tenant, branch.id))
    const inBranch = (await newRotation(world, tenant, ofBranch)).rotation.id
    const ofApp = (await create()).body.rotation.id
    const causeOf = async (id: string) =>
      (await entriesOf('rotation.deleted')).find(({ resourceId }) => resourceId === id)?.metadata.cause
    world.clock.advance(61)
    await expireBranches(context)
    expect(await causeOf(inBranch)).toBe('branch.expired')
    const appId = parent.environment.applicationId as string
    await world.call(apps.delete, { as, params: { orgId, appId } })
    expect(await causeOf(ofApp)).toBe('app.deleted')
  })

  test('does not follow that of its secret: the next run reports it and creates no new secret', async () => {
    const { id } = (await create({ rotateNow: true })).body.rotation
    await world.call(secrets.delete, { as, params: { orgId, envId: env.envId, name: 'ROTATED' } })
    const answer = await rotate(id)
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringContaining('the secret was deleted')])
    expect(await env.read('ROTATED')).toBeUndefined()
  })
})

describe('the scheduler', () => {
  test('runs a due policy once, and no other policy', async () => {
    const { id } = (await create()).body.rotation
    const paused = (await create({ secretName: 'PAUSED', wrappedDek: undefined })).body.rotation
    await patch(paused.id, { status: 'paused' })
    expect(await runDue(id)).toBeUndefined()
    world.clock.advance(4000)
    const both = await Promise.all([runDue(id), runDue(id), runDue(paused.id)])
    expect(both.filter((done) => done !== undefined)).toHaveLength(1)
    expect([(await read(id)).lastVersion, (await read(paused.id)).lastVersion]).toEqual([1, null])
  })

  test('finds due policies by itself', async () => {
    const { id } = (await create()).body.rotation
    world.clock.advance(4000)
    await sweep(context)
    await expect.poll(async () => (await read(id)).lastVersion).toBe(1)
  })

  test('retries after ever longer pauses within the interval, and mails the admins at the third failure', async () => {
    const { id } = (await create({ rotateNow: true })).body.rotation
    await world.call(secrets.delete, { as, params: { orgId, envId: env.envId, name: 'ROTATED' } })
    world.clock.advance(4000)
    const told = async () => {
      const rows = await context.db.foreign<{ count: string }>(
        `select count(*) as count from jobs where name = 'events.notifications' and data ->> 'type' = 'rotation.failed'
            and data -> 'facts' ->> 'rotationId' = '${id}'`,
      )
      return Number(rows[0]?.count)
    }
    for (const streak of [1, 2, 3, 4]) {
      await expect(runDue(id)).rejects.toThrow('the secret was deleted')
      const { failureStreak, lastError, status, nextRunAt, lastRunAt } = await read(id)
      expect([failureStreak, status, lastError]).toEqual([streak, 'active', expect.stringContaining('deleted')])
      const pause = (Date.parse(nextRunAt as string) - Date.parse(lastRunAt as string)) / 1000
      expect(pause).toBeLessThanOrEqual(3600)
      expect(pause).toBeGreaterThan(57 * 2 ** (streak - 1) - 1)
      expect(await told()).toBe(streak < 3 ? 0 : 1)
      world.clock.advance(pause + 1)
    }
    expect((await patch(id, { status: 'active' })).body.rotation).toMatchObject({ failureStreak: 0, lastError: null })
  })

  test('spreads runs by up to a twentieth of the interval', () => {
    const now = '2026-01-01T00:00:00.000Z'
    const seconds = Array.from({ length: 200 }, () => (Date.parse(nextAfter(now, 1000)) - Date.parse(now)) / 1000)
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(1000)
    expect(Math.max(...seconds)).toBeLessThanOrEqual(1050)
    expect(new Set(seconds).size).toBeGreaterThan(100)
    for (const streak of [1, 5, 50])
      expect(Date.parse(retryAfter(now, 300, streak)) - Date.parse(now)).toBeLessThanOrEqual(300_000)
  })
})
