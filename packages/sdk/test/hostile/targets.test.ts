import { newToken } from '@skerry/crypto/token'
import { expect, test } from 'vitest'
import type { Cache } from '../../src/cache.ts'
import { createClient } from '../../src/client.ts'
import { createKnownState, type KnownStateSettings } from '../../src/known-state.ts'
import { createLease, findLeaseTarget, replaceAdminSecret } from '../../src/leases.ts'
import { startServer } from '../server.ts'
import { ids } from '../world.ts'

// A server that shows another address for a lease target. Each test checks what the program gets.

const { orgId } = ids
const me = await newToken('skerry')
const connection = { host: 'db.example.com', port: 5432, database: 'shop', tls: 'verify-full' }
const config = { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'public' }
const target = { id: 'ltg_0000000000000000000001', name: 'shop', provider: 'postgres', config } as const
type Target = Parameters<typeof createLease>[1]['target']
const honest = target as unknown as Target
const at = (more: object, id: string = target.id) =>
  ({ ...target, id, config: { ...config, connection: { ...connection, ...more } } }) as unknown as Target

function memory(): Cache {
  const kept = new Map<string, string>()
  return {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
}

async function world(more: Partial<KnownStateSettings> = {}) {
  const server = await startServer(`Bearer ${me.bearer}`)
  const { baseUrl } = server
  const client = createClient({ baseUrl, credential: { bearer: me.bearer } })
  const knownState = createKnownState({ store: memory(), baseUrl, principalId: me.tokenId, ...more })
  await knownState.madeTarget({ orgId, ...target })
  const make = (shown: Target) => createLease(client, { orgId, target: shown, ttlSeconds: 600, knownState })
  return { server, client, knownState, make }
}

test.each([
  ['host', { host: 'evil.example.com' }, 'connection.host is evil.example.com (was db.example.com)'],
  ['port', { port: 1 }, 'connection.port is 1 (was 5432)'],
  ['TLS mode', { tls: 'disable' }, 'connection.tls is disable (was verify-full)'],
])('a target with another %s is not asked for a lease', async (_, changed, told) => {
  const { server, make } = await world()
  const message = `lease target shop has different settings than before: ${told}`
  for (const id of [target.id, 'ltg_0000000000000000000002'])
    await expect(make(at(changed, id))).rejects.toMatchObject({ code: 'rollback', message })
  expect(server.requests).toEqual([])
})

test('a target with another host gets no admin credential', async () => {
  const { server, client, knownState } = await world()
  const settings = { orgId, adminSecret: 'postgres://a:b@h/d', knownState }
  await expect(replaceAdminSecret(client, at({ host: 'evil.example.com' }), settings)).rejects.toMatchObject({
    code: 'rollback',
  })
  expect(server.requests).toEqual([])
})

test('a target is not found by a name that the server gave it as its id', async () => {
  const { server, client } = await world()
  const other = { ...at({ host: 'evil.example.com' }, 'shop'), name: 'other' }
  const answer = (...targets: unknown[]) =>
    server.on('leases.targets', () => ({ text: JSON.stringify({ targets, nextCursor: null }) }))
  answer(other, target)
  expect(await findLeaseTarget(client, orgId, 'shop')).toMatchObject({ id: target.id, name: 'shop' })
  expect(await findLeaseTarget(client, orgId, target.id)).toMatchObject({ name: 'shop' })
  answer(other)
  await expect(findLeaseTarget(client, orgId, 'shop')).rejects.toMatchObject({ code: 'not_found' })
})

test('a target is the same under another name or order of settings, and an accepted change is known', async () => {
  const told: string[] = []
  const { knownState } = await world({ onRollback: ({ message }) => void told.push(message) })
  const { host, ...rest } = connection
  await knownState.check({
    targets: [{ orgId, ...target, name: 'renamed', config: { ...config, connection: { ...rest, host } } }],
  })
  expect(told).toEqual([])
  for (let i = 0; i < 2; i++) await knownState.check({ targets: [{ orgId, ...at({ port: 1 }) }] })
  expect(told).toHaveLength(1)
  await knownState.check({ targets: [{ orgId, ...honest }] })
  expect(told).toHaveLength(2)
})
