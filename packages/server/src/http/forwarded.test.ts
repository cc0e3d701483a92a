import { health } from '@skerry/contract/health/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { expect, onTestFinished, test } from 'vitest'
import { openWorld } from '../../test/world.ts'

const warning = 'a proxy that is not trusted forwards the addresses of its callers'

async function warningsAfter(trusted: string, forwarded: string[]): Promise<number> {
  const world = await openWorld({ SKERRY_TRUSTED_PROXIES: trusted })
  onTestFinished(world.close)
  for (const caller of forwarded)
    for (const endpoint of [resolve.get, me.get, health.live])
      await world.call(endpoint, { headers: { 'x-forwarded-for': caller } })
  return world.log.filter((line) => line.includes(warning)).length
}

test.each([
  ['no proxy', '', ['198.51.100.7'], 1],
  ['no proxy, for a caller on its own host', '', ['127.0.0.1'], 1],
  ['a proxy elsewhere', '10.0.0.0/8', ['127.0.0.1', '198.51.100.7'], 1],
  ['this proxy', 'loopback', ['198.51.100.7'], 0],
  ['this proxy, for a caller on its own host', '127.0.0.1', ['127.0.0.1'], 0],
])('a server that trusts %s warns the expected number of times', async (_, trusted, forwarded, times) => {
  expect(await warningsAfter(trusted, forwarded)).toBe(times)
})

test('a trusted proxy that sends only Forwarded causes a warning that names the header to send', async () => {
  const world = await openWorld({ SKERRY_TRUSTED_PROXIES: 'loopback' })
  onTestFinished(world.close)
  for (let call = 0; call < 2; call++) await world.call(health.live, { headers: { forwarded: 'for=198.51.100.7' } })
  expect(world.log.filter((line) => line.includes('let the proxy send X-Forwarded-For'))).toHaveLength(1)
})

test('a request that is answered from memory counts too', async () => {
  const world = await openWorld()
  onTestFinished(world.close)
  const headers = { 'x-forwarded-for': '198.51.100.7' }
  await world.call(resolve.get, { as: 'Bearer skt_unknown', query: { env: 'env_unknown' }, headers })
  expect(world.log.filter((line) => line.includes(warning))).toHaveLength(1)
})
