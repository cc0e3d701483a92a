import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseSession, LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { leaseId } from './mint.ts'
import { type MongodbFake, startMongodbFake } from './mongodb-fake.ts'

const admin = { user: 'skerry', password: 'admin/p@ss' }

describe('mongodb leases, by the official driver against a fake on the wire', () => {
  let fake: MongodbFake
  let sessions: LeaseSession<'mongodb'>[] = []
  const outside = testOutside()
  beforeAll(async () => {
    fake = await startMongodbFake(admin)
  })
  beforeEach(async () => {
    for (const session of sessions) await session.close()
    sessions = []
    fake.accounts.clear()
    fake.commands.splice(0)
    fake.forbidden.clear()
    fake.secondary = false
  })
  afterAll(async () => {
    for (const session of sessions) await session.close()
    await fake.stop()
  })

  type Config = LeaseTarget<'mongodb'>['config']
  const target = (config: Partial<Config> = {}, password = admin.password): LeaseTarget<'mongodb'> => ({
    config: {
      provider: 'mongodb',
      executor: 'in_broker',
      connection: { host: '127.0.0.1', port: fake.port, database: 'shop' },
      accessLevel: 'readonly',
      ...config,
    },
    credential: `mongodb://${admin.user}:${encodeURIComponent(password)}@127.0.0.1:${fake.port}/shop?authSource=admin`,
  })
  const open = async (config: Partial<Config> = {}, password = admin.password) => {
    const session = await openLeaseTarget('mongodb', target(config, password), outside)
    sessions.push(session)
    return session
  }
  const lease = () => ({ id: leaseId(), ttlSeconds: 600, expiresAt: new Date(Date.now() + 600_000) })
  const ref = (id: string, resourceRef = `skerry_${id}`) => ({ id, resourceRef, verifierDigest: null })

  it('creates an account that is named after its lease and limited to its level', async () => {
    const minted = lease()
    const issued = await (await open()).create(minted)
    expect(issued).toMatchObject({
      resourceRef: `skerry_${minted.id}`,
      result: { username: `skerry_${minted.id}`, port: fake.port, database: 'shop', authSource: 'admin' },
    })
    expect(issued.credential).toMatch(/^p[A-Za-z0-9_-]{32}$/)
    expect(fake.accounts.get(`skerry_${minted.id}`)).toMatchObject({
      password: issued.credential,
      roles: [{ role: 'read', db: 'shop' }],
      customData: { skerryLease: minted.id },
    })
  })

  it('grants what the level says', async () => {
    await (await open({ accessLevel: 'readwrite' })).create(lease())
    await (await open({ accessLevel: 'custom', roles: [{ role: 'reporting', db: 'stats' }] })).create(lease())
    expect([...fake.accounts.values()].map(({ roles }) => roles)).toEqual([
      [{ role: 'readWrite', db: 'shop' }],
      [{ role: 'reporting', db: 'stats' }],
    ])
  })

  it('ends what runs and removes the account, and again without an error', async () => {
    const minted = lease()
    const session = await open()
    await session.create(minted)
    fake.commands.splice(0)
    await session.revoke(ref(minted.id))
    expect(fake.commands).toEqual(['usersInfo', 'killAllSessions', 'dropUser'])
    expect(fake.accounts.size).toBe(0)
    await session.revoke(ref(minted.id))
    await session.revoke(ref(leaseId()))
  })

  it('removes the account also where the admin may not end sessions', async () => {
    fake.forbidden.add('killAllSessions')
    const minted = lease()
    const session = await open()
    await session.create(minted)
    await session.revoke(ref(minted.id))
    expect(fake.accounts.size).toBe(0)
  })

  it('an account that exists, or is not the lease’s own, is left alone', async () => {
    const [minted, session] = [lease(), await open()]
    await session.create(minted)
    await expect(session.create(minted)).rejects.toMatchObject({ reason: 'exists' })
    const theirs = { user: 'app', roles: [], password: 'theirs' }
    fake.accounts.set('app', theirs)
    await expect(session.revoke(ref(minted.id, 'app'))).rejects.toMatchObject({ reason: 'foreign' })
    expect(fake.accounts.get('app')).toBe(theirs)
    expect(await session.list()).toEqual([
      { name: `skerry_${minted.id}`, leaseId: minted.id, verifierDigest: null },
    ])
  })

  it('says what the server is, and refuses a secondary and Atlas', async () => {
    const session = await open()
    expect((await session.verify()).server).toBe('MongoDB 7.0.14')
    fake.secondary = true
    await expect(session.verify()).rejects.toMatchObject({ reason: 'unsupported' })
    const connection = { host: 'shop.abcde.mongodb.net', port: 27_017, database: 'shop' }
    await expect(open({ connection })).rejects.toMatchObject({ reason: 'unsupported' })
  })

  it('a wrong password and a missing right are denied, and nothing secret is repeated', async () => {
    const failure = await open({}, 'wrong/p@ss').catch((error) => error)
    expect(failure).toMatchObject({ reason: 'denied' })
    expect(failure.message).not.toContain('wrong')
    fake.forbidden.add('createUser')
    await expect((await open()).create(lease())).rejects.toMatchObject({ reason: 'denied' })
    fake.forbidden.clear()
    const unknown = await open({ accessLevel: 'custom', roles: [{ role: 'unknown', db: 'shop' }] })
    await expect(unknown.create(lease())).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('a credential that leads elsewhere is refused before anything is sent', async () => {
    const { config, credential } = target()
    outside.forget()
    for (const other of [
      credential.replace('127.0.0.1', '127.0.0.2'),
      credential.replace('mongodb:', 'mongodb+srv:'),
      credential.replace('authSource=admin', 'authSource=shop'),
      `${credential}&replicaSet=rs0`,
    ])
      await expect(openLeaseTarget('mongodb', { config, credential: other }, outside)).rejects.toMatchObject({
        reason: 'invalid',
      })
    expect(outside.sent()).toBe(0)
  })

  it('needs two connections for any number of leases', async () => {
    outside.forget()
    const before = outside.open
    const session = await open()
    for (let index = 0; index < 10; index++) await session.create(lease())
    for (const { name, leaseId } of await session.list()) await session.revoke(ref(leaseId ?? '', name))
    expect(fake.accounts.size).toBe(0)
    expect(outside.peak - before).toBeLessThanOrEqual(2)
  })
})
