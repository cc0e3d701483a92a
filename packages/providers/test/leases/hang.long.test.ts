import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { LeaseTag } from '@skerry/contract/lease-providers'
import { expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'

it('a target that takes connections and never answers is given up on', async () => {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const common = { executor: 'in_broker', accessLevel: 'readonly' } as const
  const connection = { host: '127.0.0.1', port, database: 'shop' }
  const redis = { host: '127.0.0.1', port }
  const configs = [
    ['postgres', 'postgres', { provider: 'postgres', connection, schema: 'app', ...common }],
    ['mysql', 'mysql', { provider: 'mysql', connection, userHost: '%', ...common }],
    ['redis', 'redis', { provider: 'redis', connection: redis, ...common }],
    ['redis', 'redis', { provider: 'redis', connection: { ...redis, tls: 'require' }, ...common }],
    ['mongodb', 'mongodb', { provider: 'mongodb', connection, ...common }],
  ] as [LeaseTag, string, LeaseTarget<LeaseTag>['config']][]
  const outside = testOutside()
  const failures = configs.map(([tag, scheme, config]) =>
    openLeaseTarget(tag, { config, credential: `${scheme}://skerry:adminpassword@127.0.0.1:${port}` }, outside).catch(
      (error) => error.reason,
    ),
  )
  expect(await Promise.all(failures)).toEqual(configs.map(() => 'unreachable'))
  await expect.poll(() => outside.open).toBe(0)
  for (const socket of open) socket.destroy()
  server.close()
}, 60_000)
