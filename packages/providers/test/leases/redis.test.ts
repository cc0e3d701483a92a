import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { freePort } from '../../../server/test/services/free-port.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutbound } from '../outbound.ts'
import { findBinary, folderFor, runAs, startDaemon } from '../services/process.ts'
import { databaseConformance } from './conformance.ts'
import { missingRedis, redisScene } from './redis-scene.ts'

const skip = missingRedis()

databaseConformance('redis', skip, redisScene, ({ scene, open, mint }) => {
  it('the ACL file contains live leases and no ended ones', async () => {
    const { lease, name, ref } = mint()
    const session = await open()
    await session.create(lease)
    expect(scene().saved()).toContain(`user ${name} on`)
    // The state after a crash between removing and saving: the account is gone, but the file still has it.
    await scene().root.call('ACL', 'DELUSER', name)
    await session.revoke(ref)
    expect(scene().saved()).not.toContain(name)
  })

  it('a lease of a custom level has the named rules and no others', async () => {
    const rules = ['~{{roleName}}:*', '+@read', '+@write', '+@connection']
    const session = await open({ accessLevel: 'custom', rules })
    const { lease, name, secret } = mint()
    await session.create(lease)
    const client = await scene().signIn(name, secret)
    await expect(client.write()).rejects.toThrow(/NOPERM/)
    await client.close()
    expect(await scene().root.call('ACL', 'DRYRUN', name, 'SET', `${name}:a`, 'b')).toBe('OK')
    expect(await scene().root.call('ACL', 'DRYRUN', name, 'SET', 'other', 'b')).toMatch(/no permissions/)
  })

  const levels: Parameters<typeof open>[0][] = [
    { accessLevel: 'readonly' },
    { accessLevel: 'readwrite' },
    { accessLevel: 'custom', rules: ['~*', '+@all'] },
  ]
  it.each(levels)(
    'a lease cannot change or create accounts, and its own account is gone when it ends: %j',
    async (config) => {
      const session = await open(config)
      const { lease, name, secret, ref } = mint()
      await session.create(lease)
      const holder = await scene().driver(name, secret)
      for (const command of [
        ['SETUSER', name, 'resetpass', '>another'],
        ['SETUSER', 'heir', 'on', 'nopass', '~*', '+@all'],
        ['DELUSER', name],
      ])
        await expect(holder.call('ACL', ...command)).rejects.toThrow(/NOPERM/)
      holder.disconnect()
      await session.revoke(ref)
      expect([await scene().exists(name), await scene().exists('heir')]).toEqual([false, false])
    },
  )

  it('a lease that may write cannot load functions for others to call', async () => {
    const session = await open({ accessLevel: 'readwrite' })
    const { lease, name, secret } = mint()
    await session.create(lease)
    const holder = await scene().driver(name, secret)
    const library = `#!lua name=shop\nredis.register_function('checkout', function() return 1 end)`
    await expect(holder.call('FUNCTION', 'LOAD', 'REPLACE', library)).rejects.toThrow(/NOPERM/)
    holder.disconnect()
    expect(await scene().root.call('FUNCTION', 'LIST')).toEqual([])
  })

  it.each(['readonly', 'readwrite'] as const)('a client that sends INFO first is ready: %s', async (accessLevel) => {
    const session = await open({ accessLevel })
    const { lease, name, secret } = mint()
    await session.create(lease)
    const client = await scene().driver(name, secret, { enableReadyCheck: true })
    expect(await client.get('note')).toBe('one')
    // The driver continues without an answer to INFO, but other clients do not.
    expect(await client.info('server')).toContain('redis_version:')
    client.disconnect()
  })

  it('a logical database that the server does not have is refused, even if the admin may not read the setting', async () => {
    const connection = { ...scene().target('readonly').config.connection, db: 4000 }
    const refused = { reason: 'invalid', message: 'connection.db: the server has 16 databases, 0 to 15' }
    await expect((await open({ connection })).verify()).rejects.toMatchObject(refused)
    await scene().root.call('ACL', 'SETUSER', 'skerry_admin', '-config|get', '+select')
    await expect((await open({ connection })).verify()).rejects.toMatchObject({
      reason: 'invalid',
      message: 'connection.db: the server has no database 4000',
    })
    await scene().root.call('ACL', 'SETUSER', 'skerry_admin', '-select')
    await (await open({ connection })).verify()
    await scene().root.call('ACL', 'SETUSER', 'skerry_admin', '+config|get')
  })

  it('an admin without a password signs in if its account has none', async () => {
    const { config, credential } = scene().target('readonly')
    await scene().root.call(
      'ACL',
      'SETUSER',
      'skerry_open',
      'on',
      'nopass',
      '-@all',
      '+acl',
      '+info',
      '+config|get',
      '+ping',
    )
    const url = new URL(credential)
    const session = await openLeaseTarget(
      'redis',
      { config, credential: `redis://skerry_open@localhost:${url.port}/1` },
      testOutbound(),
    )
    await session.create(mint().lease)
    await session.close()
    await scene().root.call('ACL', 'DELUSER', 'skerry_open')
  })

  it.each(['nopass', '>password', `#${'0'.repeat(64)}`, 'on', 'reset', '~a b', '+{{verifier}}', '~{{verifier}}'])(
    'the rule %s is refused',
    async (rule) => {
      await expect(open({ accessLevel: 'custom', rules: [rule] })).rejects.toMatchObject({ reason: 'invalid' })
    },
  )
})

it.skipIf(skip !== undefined)(
  'a replica is refused, and the notes warn about a server without an ACL file',
  async () => {
    const user = runAs('redis', 'nobody')
    const folder = folderFor(user, 'redis-replica')
    const port = await freePort()
    const daemon = await startDaemon(
      findBinary('redis-server')!,
      [
        '--port',
        `${port}`,
        '--bind',
        '127.0.0.1',
        '--dir',
        folder.path,
        '--save',
        '',
        '--requirepass',
        'adminpassword',
      ],
      { ready: /Ready to accept connections/, user, cwd: folder.path },
    )
    const root = new Redis({ host: '127.0.0.1', port, password: 'adminpassword' })
    const connection = { host: '127.0.0.1', port }
    const config = { provider: 'redis', executor: 'in_broker', connection, accessLevel: 'readonly' } as const
    const credential = `redis://:adminpassword@127.0.0.1:${port}`
    const session = await openLeaseTarget('redis', { config, credential }, testOutbound())
    expect((await session.verify()).notes).toEqual([
      expect.stringContaining(
        'The server has no ACL file, so it keeps accounts only in memory. A restart ends all leases.',
      ),
    ])
    await root.replicaof('127.0.0.1', 1)
    await expect(session.verify()).rejects.toMatchObject({
      reason: 'unsupported',
      message: expect.stringMatching(/replica/),
    })
    await session.close()
    root.disconnect()
    await daemon.stop()
    folder.remove()
  },
)
