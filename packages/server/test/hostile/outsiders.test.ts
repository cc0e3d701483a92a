import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { openTenant } from '../scene.ts'

const origin = 'https://app.example.com'
const { world, tenant } = await openTenant({ SKERRY_CONNECTIONS_PER_ADDRESS: '8', SKERRY_CORS_ORIGINS: origin })

test('a page of a configured origin may call with a bearer but without cookies, and other pages may not call', async () => {
  const ask = (from: string, init: RequestInit = {}) =>
    fetch(`${world.url}/v1/me`, { ...init, headers: { origin: from, authorization: tenant.admin.as, ...init.headers } })
  const asked = await ask(origin)
  expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([200, origin])
  expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
  const preflight = await ask(origin, { method: 'OPTIONS', headers: { 'access-control-request-method': 'PUT' } })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
    204,
    expect.stringContaining('PUT'),
  ])
  // The headers that the SDK sends, and the response headers that it reads.
  const allowed = preflight.headers.get('access-control-allow-headers')?.split(', ')
  expect(allowed).toEqual(expect.arrayContaining(['authorization', 'content-type', 'if-none-match', 'x-skerry-client']))
  const shown = asked.headers.get('access-control-expose-headers')?.split(', ')
  expect(shown).toEqual(expect.arrayContaining(['etag', 'retry-after', 'x-request-id']))
  expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
})

test('connections of one IP address above its limit are closed', async () => {
  const { hostname, port } = new URL(world.url)
  const sockets = Array.from({ length: 40 }, () => connect(Number(port), hostname).on('error', () => {}))
  let closed = 0
  for (const socket of sockets)
    socket.once('close', () => {
      closed++
    })
  await expect.poll(() => closed).toBeGreaterThanOrEqual(32)
  for (const socket of sockets) socket.destroy()
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')))
  await expect.poll(async () => (await fetch(`${world.url}/health`).catch(() => null))?.status).toBe(200)
})
