import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { freePort } from '../../../server/test/services/free-port.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { findBinary, folderFor, runAs, startDaemon } from '../services/process.ts'
import { databaseConformance } from './conformance.ts'
import { missingRedis, redisScene } from './redis-scene.ts'

const skip = missingRedis()

databaseConformance('redis', skip, redisScene, ({ scene, open, mint }) => {
  it('what an ACL file keeps follows the leases', async () => {
    const { lease, name, ref } = mint()
    const session = await open()
    await session.create(lease)
    expect(scene().saved()).toContain(`user ${name} on`)
    // A crash between removing and saving: the account is gone, and the file still has it.
    await scene().root.call('ACL', 'DELUSER', name)
    await session.revoke(ref)
    expect(scene().saved()).not.toContain(name)
  })

  it('a custom level has the rules that it names, and no others', async () => {
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

  it.each(['nopass', '>password', `#${'0'.repeat(64)}`, 'on', 'reset', '~a b', '+{{verifier}}', '~{{verifier}}'])(
    'refuses the rule %s',
    async (rule) => {
      await expect(open({ accessLevel: 'custom', rules: [rule] })).rejects.toMatchObject({ reason: 'invalid' })
    },
  )
})

it.skipIf(skip !== undefined)('a replica is refused, and a server without an ACL file is told of', async () => {
  const user = runAs('redis', 'nobody')
  const folder = folderFor(user, 'redis-replica')
  const port = await freePort()
  const daemon = await startDaemon(
    findBinary('redis-server')!,
    ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder.path, '--save', '', '--requirepass', 'adminpassword'],
    { ready: /Ready to accept connections/, user, cwd: folder.path },
  )
  const root = new Redis({ host: '127.0.0.1', port, password: 'adminpassword' })
  const connection = { host: '127.0.0.1', port }
  const config = { provider: 'redis', executor: 'in_broker', connection, accessLevel: 'readonly' } as const
  const credential = `redis://:adminpassword@127.0.0.1:${port}`
  const session = await openLeaseTarget('redis', { config, credential }, testOutside())
  expect((await session.verify()).notes).toEqual([expect.stringContaining('a restart ends all leases')])
  await root.replicaof('127.0.0.1', 1)
  await expect(session.verify()).rejects.toMatchObject({
    reason: 'unsupported',
    message: expect.stringMatching(/replica/),
  })
  await session.close()
  root.disconnect()
  await daemon.stop()
  folder.remove()
})
