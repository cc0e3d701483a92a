import { once } from 'node:events'
import { connect } from 'node:net'
import { apps } from '@skerry/contract/apps/endpoints'
import { limits } from '@skerry/contract/limits'
import { afterEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/context.ts'
import { engine } from '../engine.ts'
import { closeStreams, isChange, openStream } from '../live-stream.ts'
import { openEnv } from '../scene.ts'
import { newMember, newToken, signUp } from '../tenant.ts'
import { until } from '../until.ts'
import { start } from '../world.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId } = tenant

afterEach(closeStreams)

const watch = (as = tenant.admin.as, headers = {}) => openStream(world.url, orgId, as, headers)
const rename = (name: string) =>
  world.call(apps.update, { as: tenant.admin.as, params: { orgId, appId }, body: { name } })

describe('a stream is refused', () => {
  test('to a member of another organization', async () => {
    const stranger = await signUp(world)
    expect((await watch(stranger.admin.as)).status).toBe(404)
  })

  test('to a token that is bound to an environment, and to a machine client', async () => {
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
    expect((await watch(bound.as)).status).toBe(403)
    expect((await watch(tenant.machine.as)).status).toBe(403)
  })

  test('to a caller with eight open ones, until one of them is closed', async () => {
    const { as } = await newMember(world, tenant)
    const open = []
    for (let n = 0; n < limits.liveStreamsPerCaller; n++) open.push(await watch(as))
    const ninth = await watch(as)
    expect([ninth.status, ninth.text()]).toEqual([429, expect.stringContaining('you have 8 event streams open')])
    open[0]?.close()
    await until('room for another', async () => (await watch(as)).status === 200)
  })
})

test('a HEAD request leaves no stream open', async () => {
  const { as } = await newMember(world, tenant)
  for (let n = 0; n <= limits.liveStreamsPerCaller; n++) {
    const headers = { authorization: as }
    const response = await fetch(`${world.url}/v1/orgs/${orgId}/events`, { method: 'HEAD', headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  }
})

test('a forged Last-Event-ID repeats no event', async () => {
  await rename('Before the stream')
  const stream = await watch(tenant.admin.as, { 'last-event-id': newId('audit') })
  const odd = await watch(tenant.admin.as, { 'last-event-id': "'; drop table audit_entries; --" })
  await rename('In the stream')
  for (const { find, actions } of [stream, odd]) {
    await find('the rename', isChange('app.updated'))
    expect(actions()).toEqual(['app.updated'])
  }
})

test('a line end in an id or a name cannot end an event or begin another', async () => {
  const stream = await watch()
  const forged = 'x\n\nevent: change\ndata: {"action":"org.forged"}'
  world.server.context.announcements.announce([
    {
      orgId,
      id: newId('audit'),
      action: 'app.updated',
      actorType: forged,
      actorId: forged,
      resourceType: 'application',
      resourceId: forged,
      metadata: { environmentId: forged, applicationId: forged, name: forged },
      createdAt: forged,
    },
  ])
  const { data } = await stream.find('the event', isChange('app.updated'))
  expect(data).toEqual({ action: 'app.updated', resourceType: 'application', actorType: forged, at: forged })
  expect(stream.actions()).toEqual(['app.updated'])
})

test('a client that never reads is cut, and others go on', async () => {
  const { hostname, port } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.on('error', () => {})
  socket.write(`GET /v1/orgs/${orgId}/events HTTP/1.1\r\nhost: skerry\r\nauthorization: ${tenant.admin.as}\r\n\r\n`)
  await once(socket, 'readable')
  const reader = await watch()
  const entry = {
    orgId,
    action: 'app.updated' as const,
    actorType: 'system',
    actorId: null,
    resourceType: 'application',
    resourceId: appId,
    metadata: {},
    createdAt: 'x'.repeat(1000),
  }
  // The client that reads gets a burst of 30 kB at a time, which must not cut it.
  const tell = () =>
    world.server.context.announcements.announce(Array.from({ length: 25 }, () => ({ ...entry, id: newId('audit') })))
  const connections = () =>
    new Promise<number>((resolve) => world.server.app.server.getConnections((_, n) => resolve(n)))
  const before = await connections()
  await until('the cut', async () => {
    tell()
    return (await connections()) < before
  })
  await rename('After the cut')
  await reader.find('the rename', (event) => event.type === 'change' && event.data.at.startsWith('2'))
  socket.destroy()
})

test('a client gets no more of a burst than fits, and is then told to read anew', async () => {
  const reader = await watch()
  const entry = {
    orgId,
    action: 'app.updated' as const,
    actorType: 'system',
    actorId: null,
    resourceType: 'application',
    resourceId: appId,
    metadata: {},
    createdAt: 'x'.repeat(1000),
  }
  const burst = Array.from({ length: 1000 }, () => ({ ...entry, id: newId('audit') }))
  world.server.context.announcements.announce(burst)
  await until('the second hello', () => reader.events.filter(({ type }) => type === 'hello').length === 2)
  expect(reader.text().length).toBeLessThan(limits.liveUnreadBytes + 1000)
  await rename('After the burst')
  await reader.find('the rename', (event) => event.type === 'change' && event.data.at.startsWith('2'))
})

describe.runIf(engine() === 'postgres')('with two servers on one PostgreSQL', () => {
  test('a change on one reaches the streams of both, once', async () => {
    const other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
    try {
      const [here, there] = [await watch(), await openStream(other.url, orgId, tenant.admin.as)]
      await rename('On one server')
      for (const stream of [here, there]) await stream.find('the rename', isChange('app.updated'))
      await rename('Once more')
      for (const { actions } of [here, there])
        await until('both renames', () => actions().filter((action) => action === 'app.updated').length === 2)
      await rename('The last')
      for (const { actions } of [here, there]) {
        await until('all renames', () => actions().length >= 3)
        expect(actions()).toEqual(['app.updated', 'app.updated', 'app.updated'])
      }
    } finally {
      closeStreams()
      await other.close()
    }
  })

  test('a change of a transaction that stays open while later ones commit is not missed', async () => {
    const { db } = world.server.context
    const stream = await watch()
    const insert = `insert into audit_entries (org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata, created_at)
      values ($1, $2, 'group.created', 'system', null, 'group', 'grp_1', '{}', now())`
    await db.transaction(async (tx) => {
      await tx.rows(insert, [orgId, newId('audit')])
      await rename('While it is open')
      await stream.find('the rename', isChange('app.updated'))
    })
    await stream.find('the group', isChange('group.created'))
  })
})

test('a server that closes ends its streams at once', async () => {
  const closing = await openEnv()
  const stream = await openStream(closing.world.url, closing.tenant.orgId, closing.tenant.admin.as)
  closing.world.server.context.live.close()
  await until('the end', stream.isEnded)
})
