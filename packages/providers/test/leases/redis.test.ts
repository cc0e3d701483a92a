import { readFileSync, writeFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { freePort } from '../../../server/test/services/free-port.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { certificateFor } from '../services/certificate.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import { databaseConformance, type Scene } from './conformance.ts'

const skip = missing(['redis-server'], 'redis-server')

interface RedisScene extends Scene<'redis'> {
  root: Redis
  /** What a restart would bring back. */
  saved(): string
}

/** Redis with an ACL file and an admin account as docs/leases.md asks for it. */
async function redisScene(): Promise<RedisScene> {
  const user = runAs('redis', 'nobody')
  const folder = folderFor(user, 'redis')
  const [port, tlsPort] = [await freePort(), await freePort()]
  const { certFile, keyFile, pem } = certificateFor(user, folder)
  const aclFile = `${folder.path}/users.acl`
  writeFileSync(
    aclFile,
    'user default on >rootpassword ~* &* +@all\nuser skerry_admin on >adminpassword resetkeys resetchannels -@all +acl +info +config|get +ping\n',
    { mode: 0o666 },
  )
  const daemon = await startDaemon(
    findBinary('redis-server')!,
    [
      ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder.path, '--save', '', '--aclfile', aclFile],
      ...['--tls-port', `${tlsPort}`, '--tls-cert-file', certFile, '--tls-key-file', keyFile],
      ...['--tls-ca-cert-file', certFile, '--tls-auth-clients', 'no'],
    ],
    { ready: /Ready to accept connections/, user, cwd: folder.path },
  )
  const address = { host: '127.0.0.1', port }
  const secure = { host: 'localhost', port: tlsPort, tls: 'verify-full', caCertificate: pem } as const
  const root = new Redis({ ...address, password: 'rootpassword' })
  await root.set('note', 'one')
  return {
    root,
    saved: () => readFileSync(aclFile, 'utf8'),
    server: /^Redis \d+\.\d+/,
    target: (accessLevel) => ({
      config: { provider: 'redis', executor: 'in_broker', connection: { ...secure, db: 1 }, accessLevel },
      credential: `redis://skerry_admin:adminpassword@localhost:${tlsPort}/1`,
    }),
    async signIn(username, password) {
      const client = new Redis({
        ...address,
        username,
        password,
        db: 1,
        lazyConnect: true,
        enableReadyCheck: false,
        retryStrategy: () => null,
      })
      client.on('error', () => {})
      const ended = new Promise<void>((resolve) => client.once('end', resolve))
      await client.connect()
      // The driver goes on where a server refuses to select the database.
      await client.select(1)
      return {
        read: () => client.multi().get('note').exec(),
        write: () => client.set('note', 'more'),
        administer: () => client.call('FLUSHALL'),
        ended,
        close: async () => client.disconnect(),
      }
    },
    exists: async (name) => (await root.call('ACL', 'GETUSER', name)) !== null,
    async createForeign(name) {
      await root.call('ACL', 'SETUSER', name, 'on', '>theirs')
    },
    async createHalf({ roleName, verifier }) {
      await root.call('ACL', 'SETUSER', roleName, 'on', `#${verifier}`)
    },
    async stop() {
      root.disconnect()
      await daemon.stop()
      folder.remove()
    },
  }
}

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
