import { audit } from '@skerry/contract/audit/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newEnv, newMember, newToken, putSecret, written } from '../../../test/tenant.ts'

const { world, tenant, appId, envId } = await openEnv()

const on = () => ({ orgId: tenant.orgId, envId })
const at = (name: string) => ({ ...on(), name })
const remove = (
  name: string,
  more: { query?: Record<string, unknown>; body?: Record<string, unknown> } = {},
  actor: Actor = tenant.admin,
) => world.call(secrets.delete, { as: actor.as, params: at(name), ...more })
const versions = (name: string) => world.call(secrets.versions, { as: tenant.admin.as, params: at(name) })

describe('deleting', () => {
  test('removes the secret and its whole history', async () => {
    const first = await putSecret(world, tenant, envId, 'GONE')
    await putSecret(world, tenant, envId, 'GONE')
    expect((await remove('GONE')).body).toEqual({ ok: true })
    expect((await versions('GONE')).status).toBe(404)
    const { body } = await world.call(secrets.list, { as: tenant.admin.as, params: on() })
    expect(body.secrets.map(({ name }) => name)).not.toContain('GONE')
    const rows = await world.server.context.db.rows('select 1 from secret_versions where secret_id = $1', [first.id])
    expect(rows).toEqual([])
    expect((await remove('GONE')).status).toBe(404)
  })

  test('makes the next write create another secret, at version 1', async () => {
    const before = await putSecret(world, tenant, envId, 'ANEW')
    await putSecret(world, tenant, envId, 'ANEW')
    await remove('ANEW')
    const after = await world.call(secrets.put, {
      as: tenant.admin.as,
      params: at('ANEW'),
      body: { ciphertext: ciphertext() },
    })
    expect([after.status, written(after.body).secret.version]).toEqual([201, 1])
    expect(written(after.body).secret.id).not.toBe(before.id)
    expect((await versions('ANEW')).body.versions).toHaveLength(1)
  })

  test.each([
    ['the query', (expectedVersion: number) => ({ query: { expectedVersion } })],
    ['the body', (expectedVersion: number) => ({ body: { expectedVersion } })],
  ])('with an expected version in %s answers 409 if the secret has another version', async (place, held) => {
    const name = `HELD_${place.length}`
    await putSecret(world, tenant, envId, name)
    await putSecret(world, tenant, envId, name)
    for (const other of [0, 1, 3]) {
      const { status, error } = await remove(name, held(other))
      expect([status, error?.code]).toEqual([409, 'conflict'])
    }
    expect((await versions(name)).body.versions).toHaveLength(2)
    expect((await remove(name, held(2))).status).toBe(200)
    expect((await remove(name, held(2))).status).toBe(409)
    expect((await remove(name, held(0))).status).toBe(404)
  })

  test('with two different expected versions is refused', async () => {
    await putSecret(world, tenant, envId, 'TWICE')
    const { status, error } = await remove('TWICE', { query: { expectedVersion: 1 }, body: { expectedVersion: 2 } })
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    expect((await remove('TWICE', { query: { expectedVersion: 1 }, body: { expectedVersion: 1 } })).status).toBe(200)
  })

  test('with an invalid expected version is refused', async () => {
    await putSecret(world, tenant, envId, 'MALFORMED')
    for (const expectedVersion of [-1, 1.5, 'one', 2_147_483_648])
      expect((await remove('MALFORMED', { query: { expectedVersion } })).status).toBe(400)
    expect((await versions('MALFORMED')).status).toBe(200)
  })

  test('needs no key, so a machine client may do it; anyone else needs a grant', async () => {
    await putSecret(world, tenant, envId, 'KEYLESS')
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant, 'admin')])
      expect((await remove('KEYLESS', {}, actor)).status).toBe(403)
    expect((await remove('KEYLESS', {}, tenant.machine)).status).toBe(200)
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    await putSecret(world, tenant, envId, 'KEYLESS')
    expect((await remove('KEYLESS', {}, holder)).status).toBe(200)
  })

  test('ten times at once succeeds once and leaves one audit entry', async () => {
    const { id } = await putSecret(world, tenant, envId, 'RACED')
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove('RACED')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
    const query = { action: 'secret.deleted', resourceId: id }
    const list = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
    expect(list.body.entries).toHaveLength(1)
  })
})

describe('listing', () => {
  test('shows the current version of each secret with its exact ciphertext', async () => {
    const other = await newEnv(world, tenant, appId, 'listed')
    const params = { orgId: tenant.orgId, envId: other.id }
    await putSecret(world, tenant, other.id, 'A')
    const a = await putSecret(world, tenant, other.id, 'A')
    const b = await putSecret(world, tenant, other.id, 'B')
    const { body } = await world.call(secrets.list, { as: tenant.admin.as, params })
    expect(body.secrets).toEqual([a, b])
  })

  test('is refused to a machine client and to everyone without a grant', async () => {
    for (const actor of [tenant.machine, await newToken(world, tenant), await newMember(world, tenant, 'admin')]) {
      const { status, error } = await world.call(secrets.list, { as: actor.as, params: on() })
      expect([status, error?.code]).toEqual([403, 'forbidden'])
    }
  })
})

describe('writing', () => {
  const put = (name: string, actor: Actor, text = ciphertext()) =>
    world.call(secrets.put, { as: actor.as, params: at(name), body: { ciphertext: text } })

  test('is possible for a member token with a grant, and for nobody without one', async () => {
    const token = await newToken(world, tenant)
    for (const actor of [token, tenant.machine, await newMember(world, tenant, 'admin')])
      expect((await put('WRITTEN', actor)).status).toBe(403)
    await grantKey(world, tenant, envId, token)
    expect((await put('WRITTEN', token)).status).toBe(201)
  })

  test('the same value under two names, or the same name in two environments, makes separate secrets', async () => {
    const text = ciphertext()
    const one = await putSecret(world, tenant, envId, 'ONE', text)
    const two = await putSecret(world, tenant, envId, 'TWO', text)
    const elsewhere = await newEnv(world, tenant, appId, 'elsewhere')
    const three = await putSecret(world, tenant, elsewhere.id, 'ONE', text)
    expect(new Set([one.id, two.id, three.id]).size).toBe(3)
    await remove('ONE')
    const params = { orgId: tenant.orgId, envId: elsewhere.id }
    expect((await world.call(secrets.list, { as: tenant.admin.as, params })).body.secrets).toEqual([three])
  })

  test('accepts names of environment variables, in which case matters', async () => {
    await put('name', tenant.admin)
    expect((await put('NAME', tenant.admin)).status).toBe(201)
    expect((await put('_', tenant.admin)).status).toBe(201)
    expect((await put('N'.repeat(255), tenant.admin)).status).toBe(201)
    for (const name of ['1ST', 'A-B', 'A B', 'A.B', 'É', 'N'.repeat(256)])
      expect((await put(name, tenant.admin)).status).toBe(400)
  })
})
