import { audit } from '@skerry/contract/audit/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, publicKeyJwk } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newToken, signUp } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { sha256 } from '../../kernel/context.ts'

const { world, tenant, envId } = await openEnv()

const org = () => ({ orgId: tenant.orgId })
const revoke = ({ id }: Actor, by: Actor = tenant.admin) =>
  world.call(tokens.revoke, { as: by.as, params: { ...org(), tokenId: id } })
const remove = ({ id }: Actor, by: Actor = tenant.admin) =>
  world.call(tokens.delete, { as: by.as, params: { ...org(), tokenId: id } })
const statusOf = async ({ as }: Actor) => (await world.call(me.get, { as })).status
const shown = async ({ id }: Actor) => {
  const { body } = await world.call(tokens.list, { as: tenant.admin.as, params: org() })
  return body.tokens.find((token) => token.id === id)
}
const trail = async (action: string, { id }: Actor) => {
  const query = { action, resourceId: id }
  return (await world.call(audit.list, { as: tenant.admin.as, params: org(), query })).body.entries
}

describe('revoking', () => {
  test('ends the token on its next request and keeps it in the list', async () => {
    const token = await newToken(world, tenant)
    expect(await statusOf(token)).toBe(200)
    expect((await revoke(token)).body).toEqual({ ok: true })
    const answer = await world.call(me.get, { as: token.as })
    expect([answer.status, answer.error]).toEqual([401, { code: 'unauthorized', message: 'unknown service token' }])
    expect((await shown(token))?.revokedAt).toEqual(expect.any(String))
  })

  test('a second time succeeds, and keeps the first time and the one audit entry', async () => {
    const token = await newToken(world, tenant)
    await revoke(token)
    const first = (await shown(token))?.revokedAt
    world.clock.advance(10)
    expect((await revoke(token)).body).toEqual({ ok: true })
    expect((await shown(token))?.revokedAt).toBe(first)
    expect(await trail('token.revoked', token)).toHaveLength(1)
  })

  test('ten times at once leaves one audit entry', async () => {
    const token = await newToken(world, tenant)
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(token)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await trail('token.revoked', token)).toHaveLength(1)
  })

  test('is allowed only to admins of the organization', async () => {
    const token = await newToken(world, tenant)
    expect((await revoke(token, await newToken(world, tenant))).status).toBe(403)
    const stranger = await signUp(world)
    const params = { orgId: stranger.orgId, tokenId: token.id }
    expect((await world.call(tokens.revoke, { as: stranger.admin.as, params })).status).toBe(404)
    expect(await statusOf(token)).toBe(200)
  })

  test('keeps the grants, so that the environments that the token could read stay known', async () => {
    const token = await newToken(world, tenant)
    const grant = await grantKey(world, tenant, envId, token)
    await revoke(token)
    const list = await world.call(grants.list, { as: tenant.admin.as, params: { ...org(), envId } })
    expect(list.body.grants).toContainEqual(grant)
    const [entry] = await trail('token.revoked', token)
    expect(entry?.metadata.environmentIds).toEqual([envId])
  })
})

describe('deleting for good', () => {
  test('is refused while the token is valid, and changes nothing', async () => {
    const token = await newToken(world, tenant)
    const { status, error } = await remove(token)
    expect([status, error?.code]).toEqual([409, 'conflict'])
    expect(await statusOf(token)).toBe(200)
    expect(await shown(token)).toBeDefined()
  })

  test('is refused for a token that has only expired', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const token = await newToken(world, tenant, { expiresAt })
    world.clock.advance(61)
    expect((await remove(token)).status).toBe(409)
  })

  test('hides a revoked token and deletes its grants, and the token never works again', async () => {
    const token = await newToken(world, tenant)
    await grantKey(world, tenant, envId, token)
    await revoke(token)
    expect((await remove(token)).body).toEqual({ ok: true })
    expect(await shown(token)).toBeUndefined()
    const list = await world.call(grants.list, { as: tenant.admin.as, params: { ...org(), envId } })
    expect(list.body.grants.map(({ principalId }) => principalId)).not.toContain(token.id)
    expect(await statusOf(token)).toBe(401)
    expect(await trail('token.deleted', token)).toHaveLength(1)
  })

  test('makes every route of the token answer 404', async () => {
    const token = await newToken(world, tenant)
    await revoke(token)
    await remove(token)
    const params = { ...org(), tokenId: token.id }
    const answers = [
      await revoke(token),
      await remove(token),
      await world.call(tokens.update, { as: tenant.admin.as, params, body: { name: 'back' } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  })

  test('does not free its id or its hash', async () => {
    const token = await newToken(world, tenant)
    await revoke(token)
    await remove(token)
    const body = {
      name: 'again',
      tokenId: token.id,
      tokenHash: sha256(token.as.slice('Bearer '.length)),
      publicKeyJwk: publicKeyJwk(),
    }
    const register = (more: object) =>
      world.call(tokens.create, { as: tenant.admin.as, params: org(), body: { ...body, ...more } })
    expect((await register({})).status).toBe(409)
    expect((await register({ tokenHash: 'A'.repeat(43) })).status).toBe(409)
    expect((await register({ tokenId: `skt_${'0'.repeat(22)}` })).status).toBe(409)
    expect(await statusOf(token)).toBe(401)
  })

  test('is allowed only to admins', async () => {
    const token = await newToken(world, tenant)
    await revoke(token)
    expect((await remove(token, await newToken(world, tenant))).status).toBe(403)
    expect((await remove(token, tenant.machine)).status).toBe(200)
  })
})

describe('lastUsedAt', () => {
  const noted = (token: Actor, than?: string | null) =>
    until('a later use', async () => {
      const at = (await shown(token))?.lastUsedAt
      return at != null && at !== than && at
    })

  test('is null until the first use, and then has its time', async () => {
    const token = await newToken(world, tenant)
    expect((await shown(token))?.lastUsedAt).toBeNull()
    const before = world.clock.now().toISOString()
    await statusOf(token)
    expect((await noted(token)) >= before).toBe(true)
  })

  test('is written at most once a minute', async () => {
    const token = await newToken(world, tenant)
    await statusOf(token)
    const first = await noted(token)
    for (const seconds of [20, 10, 10]) {
      world.clock.advance(seconds)
      await statusOf(token)
    }
    // A use by another token is recorded after those uses, so none of them is still to be recorded.
    const other = await newToken(world, tenant)
    await statusOf(other)
    await noted(other)
    expect((await shown(token))?.lastUsedAt).toBe(first)
    world.clock.advance(25)
    await statusOf(token)
    expect((await noted(token, first)) > first).toBe(true)
  })

  test('is updated if the first use after a pause is a write, of a secret or of anything else, successful or refused', async () => {
    const token = await newToken(world, tenant, { role: 'admin' })
    await grantKey(world, tenant, envId, token)
    await statusOf(token)
    let last = await noted(token)
    const params = { ...org(), envId, name: 'NOTED' }
    const rename = { as: token.as, params: { ...org(), tokenId: token.id }, body: { name: 'renamed' } }
    const taken = { ciphertext: ciphertext(), expectedVersion: 7 }
    const writes = [
      () => world.call(secrets.put, { as: token.as, params, body: taken }),
      () => world.call(secrets.put, { as: token.as, params, body: { ciphertext: ciphertext() } }),
      () => world.call(tokens.update, rename),
      () => world.call(secrets.delete, { as: token.as, params }),
      () => world.call(tokens.update, rename),
    ]
    for (const write of writes) {
      world.clock.advance(3600)
      const before = world.clock.now().toISOString()
      expect([200, 201, 409]).toContain((await write()).status)
      const next = await noted(token, last)
      expect(next >= before).toBe(true)
      last = next
    }
  })

  test('is not updated by a token that is refused', async () => {
    const token = await newToken(world, tenant)
    await statusOf(token)
    const last = await noted(token)
    await revoke(token)
    world.clock.advance(120)
    expect(await statusOf(token)).toBe(401)
    const other = await newToken(world, tenant)
    await statusOf(other)
    await noted(other)
    expect((await shown(token))?.lastUsedAt).toBe(last)
  })

  test('is not updated by a token that is cached in memory and refused', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const token = await newToken(world, tenant, { role: 'admin', expiresAt })
    await statusOf(token)
    const last = await noted(token)
    world.clock.advance(120)
    expect((await revoke(token, token)).status).toBe(401)
    const other = await newToken(world, tenant)
    await statusOf(other)
    await noted(other)
    expect((await shown(token))?.lastUsedAt).toBe(last)
  })
})
