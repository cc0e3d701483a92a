import { readFileSync, writeFileSync } from 'node:fs'
import { Redis, type RedisOptions } from 'ioredis'
import { freePort } from '../../../server/test/services/free-port.ts'
import { certificateFor } from '../services/certificate.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import type { Scene } from './conformance.ts'

export const missingRedis = () => missing(['redis-server'], 'redis-server')

export interface RedisScene extends Scene<'redis'> {
  root: Redis
  /** Opens a client in the first database, as users of Redis do. */
  driver(username: string, password: string, options?: RedisOptions): Promise<Redis>
  /** The accounts that a restart would restore. */
  saved(): string
}

/** Redis with an ACL file and an admin account as docs/leases/redis.md requires it. */
export async function redisScene(): Promise<RedisScene> {
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
    async driver(username, password, options = {}) {
      const client = new Redis({
        ...address,
        username,
        password,
        lazyConnect: true,
        retryStrategy: () => null,
        ...options,
      })
      client.on('error', () => {})
      await client.connect()
      return client
    },
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
      // The driver continues even if a server refuses to select the database.
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
    async endHalf(name) {
      await root.call('ACL', 'SETUSER', name, 'off')
    },
    async stop() {
      root.disconnect()
      await daemon.stop()
      folder.remove()
    },
  }
}
