import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import type { LeaseTag } from '@skerry/contract/lease-providers'
import { describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { ProviderError } from '../../src/provider-error.ts'
import { testOutside } from '../outside.ts'

const levels = { executor: 'in_broker', accessLevel: 'readonly' } as const
const tls = 'disable' as const

/** A target of each kind that speaks over a socket. */
const targets = (port: number) => {
  const database = { host: '127.0.0.1', port, database: 'shop', tls }
  const secret = (scheme: string) => `${scheme}://skerry:adminpassword@127.0.0.1:${port}`
  return [
    [
      'postgres',
      {
        config: { provider: 'postgres', connection: database, schema: 'app', ...levels },
        credential: secret('postgres'),
      },
    ],
    [
      'mysql',
      { config: { provider: 'mysql', connection: database, userHost: '%', ...levels }, credential: secret('mysql') },
    ],
    [
      'redis',
      {
        config: { provider: 'redis', connection: { host: '127.0.0.1', port, tls }, ...levels },
        credential: secret('redis'),
      },
    ],
  ] as [Exclude<LeaseTag, 'ssh' | 'cloud-a' | 'cloud-b' | 'mongodb'>, LeaseTarget<never>][]
}

async function listening(answer: (socket: Socket) => void): Promise<{ port: number; stop(): void }> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

const http = 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n400 Bad Request'

describe('a target that is no such server', () => {
  const cases: [string, (socket: Socket) => void][] = [
    ['hangs up', (socket) => socket.destroy()],
    ['speaks HTTP', (socket) => socket.end(http)],
    [
      'sends noise',
      (socket) => socket.end(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 251))),
    ],
  ]
  it.each(cases)('%s: each adapter says so, and leaves no connection behind', async (_, answer) => {
    const server = await listening(answer)
    const outside = testOutside()
    for (const [tag, target] of targets(server.port)) {
      const failure = await openLeaseTarget(tag, target, outside).catch((error: unknown) => error)
      expect([tag, failure]).toEqual([tag, expect.any(ProviderError)])
      expect([tag, (failure as ProviderError).message]).not.toContain('adminpassword')
    }
    await expect.poll(() => outside.open).toBe(0)
    server.stop()
  })

  it('is not there: each adapter says so', async () => {
    const server = await listening(() => {})
    server.stop()
    for (const [tag, target] of targets(server.port))
      await expect(openLeaseTarget(tag, target, testOutside())).rejects.toMatchObject({ reason: 'unreachable' })
  })
})
