import { leases } from '@skerry/contract/leases/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { offCurveJwk, publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import {
  newSshKey,
  newSshLease,
  newSshTarget,
  sshLease,
  sshTarget,
  wrappedForBroker,
} from '../../../test/lease-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { auditRows, stateOf } from '../../../test/state.ts'
import { newToken } from '../../../test/tenant.ts'
import { endDue } from './ending.ts'
import { sweep } from './jobs.ts'

// Leases that need no other server: the server makes SSH certificates itself. databases.test.ts tests databases.

const { world, tenant, envId } = await openEnv()
const { orgId } = tenant
const { as } = tenant.admin
const params = { orgId }
const { context } = world.server
const target = await newSshTarget(world, tenant, { allowedPrincipals: ['deploy', 'backup'], maxTtlSeconds: 3600 })

const mint = (more: object = {}) => world.call(leases.create, { as, params, body: sshLease(target.id, more) })
const read = async (leaseId: string) => (await world.call(leases.get, { as, params: { orgId, leaseId } })).body.lease
const statusOf = (leaseId: string, status: string) =>
  context.db.rows('update leases set status = $2 where id = $1', [leaseId, status])

describe('a target', () => {
  test('is stored after its credential has been tried, and never shows the credential again', async () => {
    expect(target).toMatchObject({ provider: 'ssh', status: 'ready', lastError: null })
    const { body } = await world.call(leases.targets, { as, params })
    expect(body.targets).toEqual([target])
    expect(JSON.stringify(body)).not.toContain('wd1.')
  })

  test.each([
    [
      'a credential for another key',
      async () => ({ ...(await sshTarget(world, tenant)), wrappedAdminSecret: wrappedKey() }),
      'body.wrappedAdminSecret: is not wrapped',
    ],
    [
      'a CA that does not match its credential',
      async () => ({
        ...(await sshTarget(world, tenant)),
        config: { provider: 'ssh', executor: 'in_broker', caPublicKey: newSshKey().publicKey },
      }),
      '',
    ],
    [
      'a field that its provider does not have',
      async () => sshTarget(world, tenant, { region: 'eu-west-1' }),
      'body.config: unknown field "region"',
    ],
    ['a value out of range', async () => sshTarget(world, tenant, { maxTtlSeconds: 5 }), 'body.config.maxTtlSeconds'],
    [
      'an unknown provider',
      async () => ({ ...(await sshTarget(world, tenant)), config: { provider: 'telnet' } }),
      'body.config.provider: must be postgres or',
    ],
  ])('with %s is refused, and nothing is stored', async (_, make, message) => {
    const answer = await world.call(leases.createTarget, { as, params, body: await make() })
    expect([400, 409]).toContain(answer.status)
    expect(answer.error?.message).toContain(message)
    expect((await world.call(leases.targets, { as, params })).body.targets).toHaveLength(1)
  })

  test('at an address that the operator has not allowed is refused with the setting to change, and is not stored', async () => {
    for (const host of ['127.0.0.1', 'localhost', '10.0.0.1', '169.254.169.254']) {
      const connection = { host, port: 5432, database: 'shop' }
      const body = {
        config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' },
        wrappedAdminSecret: await wrappedForBroker(world, tenant, `postgres://admin:secret@${host}:5432/shop`),
      }
      const { status, error } = await world.call(leases.createTarget, { as, params, body })
      expect([host, status, error?.message]).toEqual([
        host,
        400,
        expect.stringMatching(/the address is .*SKERRY_ALLOW_PRIVATE_TARGETS/),
      ])
    }
    expect((await world.call(leases.targets, { as, params })).body.targets).toHaveLength(1)
  })

  test('with live leases is removed only by force, and the ledger records that', async () => {
    const other = await newSshTarget(world, tenant)
    const { lease } = await newSshLease(world, tenant, other.id)
    const call = (force?: 'true') =>
      world.call(leases.deleteTarget, { as, params: { orgId, targetId: other.id }, query: force ? { force } : {} })
    const refused = await call()
    expect([refused.status, refused.error?.message]).toEqual([
      409,
      '1 leases of this target are live: revoke them first, or remove the target by force, which leaves their accounts on it',
    ])
    expect((await call('true')).status).toBe(200)
    expect(await read(lease.id)).toMatchObject({
      targetId: null,
      status: 'revoked',
      lastError: expect.stringContaining('removed by force'),
    })
  })

  test('with the name of another target is refused', async () => {
    const body = { ...(await sshTarget(world, tenant)), name: target.name }
    expect((await world.call(leases.createTarget, { as, params, body })).status).toBe(409)
  })

  test('cannot be listed by a token that is bound to an environment', async () => {
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
    expect((await world.call(leases.targets, { as: bound.as, params })).status).toBe(403)
  })
})

describe('a lease', () => {
  test('is answered with its certificate, which the ledger does not show', async () => {
    const { status, body } = await mint()
    expect(status).toBe(201)
    const { lease, ssh } = body
    expect(ssh).toMatchObject({ principals: ['deploy'], expiresAt: lease.expiresAt })
    expect(ssh?.certificate).toMatch(/^ssh-ed25519-cert-v01@openssh\.com /)
    expect(lease).toMatchObject({
      status: 'active',
      targetId: target.id,
      requestedById: tenant.admin.id,
      revokedAt: null,
    })
    expect(Date.parse(lease.expiresAt) - Date.parse(lease.createdAt)).toBe(600_000)
    expect(await read(lease.id)).toEqual(lease)
    expect(JSON.stringify(lease)).not.toContain('cert-v01')
  })

  test.each([
    ['longer than its target allows', { ttlSeconds: 3601 }, 'body.ttlSeconds: this target allows 3600 at most'],
    ['shorter than a minute', { ttlSeconds: 59 }, 'body.ttlSeconds'],
    ['for a principal that is not allowed', { principals: ['root'] }, 'principal'],
    ['without a principal', { principals: [] }, 'body.principals'],
    ['with a field of another provider', { roleName: 'reader' }, 'body: unknown field "roleName"'],
    ['of another provider', { provider: 'postgres' }, 'body.provider: the target’s provider is SSH certificates'],
    ['for a certificate instead of a key', { publicKey: 'ssh-ed25519-cert-v01@openssh.com AAAA' }, ''],
  ])('%s is refused', async (_, more, message) => {
    const answer = await mint(more)
    expect(answer.status).toBe(400)
    expect(answer.error?.message).toContain(message)
  })

  test('of a cloud provider lasts at most one hour unless its target allows more', async () => {
    const cloud = await newSshTarget(world, tenant)
    await context.db.rows(`update lease_targets set provider = 'cloud-a', config = '{}' where id = $1`, [cloud.id])
    const { publicKey: _, principals: __, ...rest } = sshLease(cloud.id)
    const body = { ...rest, provider: 'cloud-a', recipientPublicKey: publicKeyJwk(), ttlSeconds: 3601 }
    const answer = await world.call(leases.create, { as, params, body })
    expect([answer.status, answer.error?.message]).toEqual([400, 'body.ttlSeconds: this target allows 3600 at most'])
  })

  test('is refused and not stored if the public key of its recipient is not on the curve', async () => {
    const cloud = await newSshTarget(world, tenant)
    await context.db.rows(`update lease_targets set provider = 'mongodb' where id = $1`, [cloud.id])
    const before = await stateOf(world)
    const body = {
      provider: 'mongodb' as const,
      targetId: cloud.id,
      recipientPublicKey: offCurveJwk(),
      ttlSeconds: 600,
    }
    const answer = await world.call(leases.create, { as, params, body })
    const message = 'body.recipientPublicKey: is not a point on the curve'
    expect([answer.status, answer.error?.message]).toEqual([400, message])
    expect(await stateOf(world)).toEqual(before)
  })

  test('that its adapter refused has the status failed in the ledger, with the reason', async () => {
    await mint({ principals: ['root'] })
    const [last] = (await world.call(leases.list, { as, params, query: { limit: 1 } })).body.leases
    expect(last).toMatchObject({ status: 'failed', lastError: expect.stringContaining('principal') })
    expect((await auditRows(world)).at(-1)).toMatchObject({ action: 'lease.failed', resourceId: last?.id })
  })

  test('that is revoked twice stays revoked, with one audit entry for it', async () => {
    const { lease } = await newSshLease(world, tenant, target.id)
    const revoke = () => world.call(leases.revoke, { as, params: { orgId, leaseId: lease.id } })
    const { body } = await revoke()
    expect(body.lease).toMatchObject({ status: 'revoked', revokedById: tenant.admin.id })
    expect((await revoke()).body).toEqual(body)
    const entries = (await auditRows(world)).filter(({ resourceId }) => resourceId === lease.id)
    expect(entries.map(({ action }) => action)).toEqual(['lease.created', 'lease.revoked'])
  })

  test('expires when its lifetime ends, with an audit entry by the system', async () => {
    const { lease } = await newSshLease(world, tenant, target.id, { ttlSeconds: 60 })
    await endDue(context, orgId, target.id)
    expect((await read(lease.id)).status).toBe('active')
    world.clock.advance(61)
    await endDue(context, orgId, target.id)
    expect((await read(lease.id)).status).toBe('expired')
    expect((await auditRows(world)).findLast(({ resourceId }) => resourceId === lease.id)).toMatchObject({
      action: 'lease.expired',
      actorType: 'system',
    })
  })

  test('that a crash interrupted fails after 90 seconds, whether or not it reached its target', async () => {
    const [half, never] = [await newSshLease(world, tenant, target.id), await newSshLease(world, tenant, target.id)]
    await statusOf(half.lease.id, 'creating')
    await statusOf(never.lease.id, 'pending')
    await endDue(context, orgId, target.id)
    expect((await read(half.lease.id)).status).toBe('creating')
    world.clock.advance(91)
    await endDue(context, orgId, target.id)
    expect([(await read(half.lease.id)).status, (await read(never.lease.id)).status]).toEqual(['failed', 'failed'])
  })

  test('cannot be revoked while it is being made, and the error says so', async () => {
    const { lease } = await newSshLease(world, tenant, target.id)
    await statusOf(lease.id, 'creating')
    const answer = await world.call(leases.revoke, { as, params: { orgId, leaseId: lease.id } })
    expect([answer.status, answer.error?.message]).toEqual([409, 'the lease is being made: try again in a moment'])
  })
})

describe('the ledger', () => {
  test('lists the leases that one principal requested, all or only the live ones', async () => {
    const token = await newToken(world, tenant, { role: 'admin' })
    const mintBy = async () =>
      (await world.call(leases.create, { as: token.as, params, body: sshLease(target.id) })).body.lease.id
    const [ended, live] = [await mintBy(), await mintBy()]
    await mint()
    await world.call(leases.revoke, { as, params: { orgId, leaseId: ended } })
    const idsOf = async (query: { requestedById?: string; live?: 'true' | 'false'; limit?: number }) =>
      (await world.call(leases.list, { as, params, query })).body.leases.map(({ id }) => id)
    expect(await idsOf({ requestedById: token.id })).toEqual(expect.arrayContaining([ended, live]))
    expect(await idsOf({ requestedById: token.id })).toHaveLength(2)
    expect(await idsOf({ requestedById: token.id, live: 'true' })).toEqual([live])
    expect(await idsOf({ requestedById: token.id, live: 'false' })).toHaveLength(2)
    const all = await idsOf({ live: 'true' })
    expect([all.includes(live), all.includes(ended)]).toEqual([true, false])
    expect(await idsOf({ live: 'true', limit: 1 })).toHaveLength(1)
  })

  test('still lists the live leases of a revoked token', async () => {
    const token = await newToken(world, tenant, { role: 'admin' })
    const { lease } = (await world.call(leases.create, { as: token.as, params, body: sshLease(target.id) })).body
    await world.call(tokens.revoke, { as, params: { orgId, tokenId: token.id } })
    const query = { requestedById: token.id, live: 'true' as const }
    expect((await world.call(leases.list, { as, params, query })).body.leases.map(({ id }) => id)).toEqual([lease.id])
  })
})

test('the sweep ends a lease that has expired', async () => {
  const { lease } = await newSshLease(world, tenant, target.id, { ttlSeconds: 60 })
  world.clock.advance(61)
  await sweep(context)
  await expect.poll(async () => (await read(lease.id)).status).toBe('expired')
})
