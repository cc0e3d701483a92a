import { afterEach, expect, it } from 'vitest'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutbound } from '../outbound.ts'
import { databaseConformance } from './conformance.ts'
import { mongodbScene } from './mongodb-scene.ts'

// Uses the official driver, against a fake on the wire.

databaseConformance('mongodb', undefined, mongodbScene, ({ scene, open, mint }) => {
  afterEach(() => {
    const { fake } = scene()
    fake.forbidden.clear()
    delete fake.mechanisms
    fake.secondary = false
  })

  it('an account is named after its lease, and its password needs no escaping in a URL or a shell', async () => {
    const { lease, name } = mint()
    const issued = await (await open()).create(lease)
    expect(issued.result).toMatchObject({ port: scene().fake.port, database: 'shop', authSource: 'admin' })
    expect(issued.credential).toMatch(/^p[A-Za-z0-9_-]{32}$/)
    expect(scene().fake.accounts.get(name)).toMatchObject({
      password: issued.credential,
      roles: [{ role: 'read', db: 'shop' }],
      customData: { skerryLease: lease.id },
    })
  })

  it('a lease of a custom level has the named roles', async () => {
    const roles = [{ role: 'reporting', db: 'stats' }]
    const { lease, name } = mint()
    await (await open({ accessLevel: 'custom', roles })).create(lease)
    expect(scene().fake.accounts.get(name)?.roles).toEqual(roles)
    const unknown = await open({ accessLevel: 'custom', roles: [{ role: 'unknown', db: 'shop' }] })
    await expect(unknown.create(mint().lease)).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('an account ends even if its holder has changed its custom data', async () => {
    const { lease, name, ref } = mint()
    const session = await open()
    await session.create(lease)
    Object.assign(scene().fake.accounts.get(name)!, { customData: { skerryLease: 'lse_another' } })
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
  })

  it('a role that does not exist is refused when the target is registered', async () => {
    const roles = [
      { role: 'reporting', db: 'stats' },
      { role: 'unknown', db: 'shop' },
    ]
    const session = await open({ accessLevel: 'custom', roles })
    await expect(session.verify()).rejects.toMatchObject({
      reason: 'invalid',
      message: 'roles[1]: there is no role unknown in the database shop',
    })
    scene().fake.forbidden.add('rolesInfo')
    expect((await session.verify()).notes).toEqual([expect.stringContaining('viewRole')])
  })

  it.each(['maker', 'manager'])(
    'a role that may create accounts is refused when the target is registered: %s',
    async (role) => {
      const session = await open({ accessLevel: 'custom', roles: [{ role, db: 'shop' }] })
      await expect(session.verify()).rejects.toMatchObject({
        reason: 'invalid',
        message: `roles[0]: ${role} grants createUser, so a lease could create accounts that outlive it`,
      })
    },
  )

  it('running operations are ended before the account is removed', async () => {
    const { fake } = scene()
    const { lease, ref } = mint()
    const session = await open()
    await session.create(lease)
    fake.commands.splice(0)
    await session.revoke(ref)
    expect(fake.commands).toEqual(['usersInfo', 'killAllSessions', 'dropUser'])
  })

  it('the account is removed even if the admin may not end sessions, which a note says', async () => {
    const { lease, name, ref } = mint()
    const session = await open()
    expect((await session.verify()).notes).toEqual([])
    scene().fake.forbidden.add('killAllSessions')
    expect((await session.verify()).notes).toEqual([expect.stringContaining('lacks killAnySession')])
    await session.create(lease)
    await session.revoke(ref)
    expect(await scene().exists(name)).toBe(false)
  })

  it('an account with another name is refused as foreign', async () => {
    await scene().createForeign('app')
    await expect((await open()).revoke({ ...mint().ref, resourceRef: 'app' })).rejects.toMatchObject({
      reason: 'foreign',
    })
    expect(await scene().exists('app')).toBe(true)
  })

  it('a secondary and Atlas are refused', async () => {
    const session = await open()
    scene().fake.secondary = true
    await expect(session.verify()).rejects.toMatchObject({ reason: 'unsupported' })
    const connection = { host: 'shop.abcde.mongodb.net', port: 27_017, database: 'shop' }
    await expect(open({ connection })).rejects.toMatchObject({ reason: 'unsupported' })
  })

  it('a server that offers only PLAIN gets no password', async () => {
    const { fake } = scene()
    fake.mechanisms = ['PLAIN']
    fake.begun.splice(0)
    await expect(open()).rejects.toMatchObject({ reason: 'denied' })
    expect(fake.begun).not.toContain('PLAIN')
    expect(fake.begun).not.toEqual([])
  })

  it('a missing right is denied', async () => {
    scene().fake.forbidden.add('createUser')
    await expect((await open()).create(mint().lease)).rejects.toMatchObject({ reason: 'denied' })
  })

  it.each([
    ['mongodb:', 'mongodb+srv:'],
    ['authSource=admin', 'authSource=shop'],
    ['authSource=admin', 'authSource=admin&replicaSet=rs0'],
  ])('a credential with %s changed to %s is refused', async (from, to) => {
    const { config, credential } = scene().target('readonly')
    const other = { config, credential: credential.replace(from, to) }
    await expect(openLeaseTarget('mongodb', other, testOutbound())).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('any number of leases needs two connections', async () => {
    const outbound = testOutbound()
    const session = await openLeaseTarget('mongodb', scene().target('readonly'), outbound)
    const minted = Array.from({ length: 10 }, () => mint())
    for (const { lease } of minted) await session.create(lease)
    for (const { ref } of minted) await session.revoke(ref)
    expect(outbound.peak).toBeLessThanOrEqual(2)
    await session.close()
  })
})
