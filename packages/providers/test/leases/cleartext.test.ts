import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { loadRotation } from '../../src/rotation/registry.ts'
import { testOutbound } from '../outbound.ts'
import { type Certificate, certificateFor } from '../services/certificate.ts'
import { type Folder, folderFor } from '../services/process.ts'

// Servers that request the password itself. In reality, such a server is somebody on the way who pretends to be the
// target.

const password = 'a-password-nobody-may-read'

interface Asking {
  port: number
  /** Everything that a client has sent, also under TLS. */
  heard(): string
  stop(): Promise<void>
}

async function asking(converse: (socket: Socket, hear: (data: Buffer) => void) => void): Promise<Asking> {
  const chunks: Buffer[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    converse(socket, (data) => chunks.push(data))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    heard: () => Buffer.concat(chunks).toString('latin1'),
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** AuthenticationCleartextPassword and AuthenticationMD5Password, as PostgreSQL sends them. */
const postgresRequests = {
  cleartext: Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]),
  md5: Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]),
} as const

const sslRequest = 80_877_103

const askingPostgres = (request: Buffer, certificate: { cert: string; key: string }) =>
  asking((socket, hear) => {
    const answer = (stream: Socket) =>
      stream.once('data', (startup) => {
        hear(startup)
        stream.on('data', hear)
        stream.write(request)
      })
    socket.once('data', (first) => {
      if (first.readInt32BE(4) === sslRequest) {
        socket.write('S')
        const secure = new TLSSocket(socket, { isServer: true, ...certificate })
        secure.on('error', () => {})
        answer(secure)
      } else {
        socket.unshift(first)
        answer(socket)
      }
    })
  })

const scramble = Buffer.alloc(20, 7)

function mysqlPacket(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(4)
  header.writeUIntLE(payload.length, 0, 3)
  header[3] = sequence
  return Buffer.concat([header, payload])
}

/** Requests another authentication plugin, and requests the password once the client has answered. */
const askingMysql = (plugin: string) =>
  asking((socket, hear) => {
    const text = (value: string) => Buffer.from(`${value}\0`)
    const greeting = Buffer.concat([
      Buffer.from([10]),
      text('8.4.3'),
      Buffer.from([1, 0, 0, 0]),
      scramble.subarray(0, 8),
      // Capabilities: 4.1, secure connection, plugins, and no TLS.
      Buffer.from([0, 0x00, 0x82, 33, 2, 0, 0x08, 0x00, 21]),
      Buffer.alloc(10),
      scramble.subarray(8),
      Buffer.alloc(1),
      text('mysql_native_password'),
    ])
    socket.write(mysqlPacket(0, greeting))
    socket.once('data', (response) => {
      hear(response)
      socket.write(mysqlPacket(2, Buffer.concat([Buffer.from([0xfe]), text(plugin), scramble, Buffer.alloc(1)])))
      socket.on('data', (data) => {
        hear(data)
        if (plugin === 'caching_sha2_password') socket.write(mysqlPacket(4, Buffer.from([1, 4])))
      })
    })
  })

const connectionTo = ({ port }: Asking, more: object) => ({ host: 'localhost', port, database: 'shop', ...more })

function targetOf(provider: 'postgres' | 'mysql', server: Asking, more: object) {
  const own = provider === 'postgres' ? { schema: 'public' } : { userHost: '%' }
  const connection = connectionTo(server, more)
  const config = { provider, executor: 'in_broker', accessLevel: 'readonly', connection, ...own }
  return { config, credential: `${provider}://skerry_admin:${password}@localhost:${server.port}/shop` } as never
}

const refused = { reason: 'unsupported', message: expect.stringMatching(/asks for .*password.*Nothing was sent/s) }

describe('a server that asks for a password which it can read', () => {
  let folder: Folder
  let certificate: Certificate
  let keys: { cert: string; key: string }
  beforeAll(async () => {
    const { readFileSync } = await import('node:fs')
    folder = folderFor({}, 'cleartext')
    certificate = certificateFor({}, folder)
    keys = { cert: certificate.pem, key: readFileSync(certificate.keyFile, 'utf8') }
  })
  afterAll(() => folder.remove())
  const outbound = () => testOutbound({}, 2000)

  for (const [name, request] of Object.entries(postgresRequests))
    it.each([{ tls: 'disable' }, { tls: 'require' }])(
      `gets nothing from the admin, nor what a rotation gave: PostgreSQL, ${name}, %j`,
      async (security) => {
        const server = await askingPostgres(request, keys)
        const target = targetOf('postgres', server, security)
        await expect(openLeaseTarget('postgres', target, outbound())).rejects.toMatchObject(refused)
        const account = { target, username: 'app', config: { kind: 'postgres', username: 'app' } } as never
        const rotation = await loadRotation('postgres')
        await expect(rotation.signsIn(account, password, outbound())).rejects.toMatchObject(refused)
        expect(server.heard()).toContain('skerry_admin')
        expect(server.heard()).not.toMatch(new RegExp(`${password}|md5`))
        await server.stop()
      },
    )

  it.each([
    ['its settings allow it', { tls: 'disable', allowCleartextPassword: true }],
    ['its certificate is verified', { tls: 'verify-full' }],
  ])('gets it if %s', async (_, security) => {
    const server = await askingPostgres(postgresRequests.cleartext, keys)
    const more = security.tls === 'verify-full' ? { ...security, caCertificate: certificate.pem } : security
    const opened = openLeaseTarget('postgres', targetOf('postgres', server, more), outbound())
    await expect.poll(() => server.heard()).toContain(password)
    await server.stop()
    await expect(opened).rejects.toBeInstanceOf(Error)
  })

  it.each(['mysql_clear_password', 'sha256_password', 'caching_sha2_password'])(
    'gets neither the admin’s password nor a rotated one: MySQL, %s',
    async (plugin) => {
      const server = await askingMysql(plugin)
      const target = targetOf('mysql', server, { tls: 'disable' })
      await expect(openLeaseTarget('mysql', target, outbound())).rejects.toMatchObject(refused)
      const account = { target, username: 'app', config: { kind: 'mysql', username: 'app', userHost: '%' } } as never
      const rotation = await loadRotation('mysql')
      await expect(rotation.signsIn(account, password, outbound())).rejects.toMatchObject(refused)
      expect(server.heard()).toContain('skerry_admin')
      expect(server.heard()).not.toContain(password)
      await server.stop()
    },
  )

  it('gets it from a MySQL client if the target’s settings allow it', async () => {
    const server = await askingMysql('mysql_clear_password')
    const target = targetOf('mysql', server, { tls: 'disable', allowCleartextPassword: true })
    const opened = openLeaseTarget('mysql', target, outbound())
    await expect.poll(() => server.heard()).toContain(password)
    await server.stop()
    await expect(opened).rejects.toBeInstanceOf(Error)
  })
})
