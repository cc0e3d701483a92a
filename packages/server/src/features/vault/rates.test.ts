import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { describe, expect, test } from 'vitest'
import { bearerSecret } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { consented, newSurfaces, registration } from '../../../test/vault-scene.ts'
import { type RateName, rates } from '../../kernel/rate-limits.ts'

const { world, tenant } = await openTenant({ SKERRY_RATE_LIMITS: 'on', SKERRY_TRUSTED_PROXIES: '127.0.0.1' })
const vault = await newSurfaces(world, tenant)

interface Sent {
  status: number
  headers: Headers
  error: { code: string } | undefined
}

/**
 * Counts the requests that are answered before one is refused. A few more than the burst get through, because the
 * limiter refills meanwhile.
 */
async function answeredBefore(send: () => Promise<Sent>, rate: RateName): Promise<number> {
  const { burst, perSecond } = rates[rate]
  for (let count = 0; count < burst * 3; count++) {
    const answer = await send()
    if (answer.status !== 429) continue
    expect(answer.error?.code).toBe('rate_limited')
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(Math.max(1, 1 / perSecond))
    return count
  }
  throw new Error('never refused')
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

describe('guesses', () => {
  test.each([
    [
      'vaultClaim',
      (address: string) =>
        world.call(vaultConnect.claim, { ...from(address), body: { token: `vct_${bearerSecret()}` } }),
    ],
    [
      'vaultRegister',
      (address: string) =>
        world.call(vaultExecutor.register, { ...from(address), body: registration(`vrc_${bearerSecret()}`) }),
    ],
  ] as const)(
    'of %s are limited to ten a minute for each IP address, without limiting other addresses',
    async (rate, send) => {
      expect(rates[rate]).toEqual({ burst: 10, perSecond: 10 / 60 })
      const address = rate === 'vaultClaim' ? '192.0.2.1' : '192.0.2.2'
      expect(await answeredBefore(() => send(address), rate)).toBeGreaterThanOrEqual(10)
      expect((await send('198.51.100.1')).status).not.toBe(429)
    },
  )
})

/** Uses up the burst, then sends many requests at once and returns a refused one. */
async function refusedWhenUsedUp(rate: RateName, key: string, send: () => Promise<Sent>): Promise<Sent> {
  const { limiter } = world.server.context
  for (let tries = 0; tries < 10; tries++) {
    while (limiter.admits(rate, key, {}));
    const answers = await Promise.all(Array.from({ length: 20 + 5 * rates[rate].perSecond }, send))
    const refused = answers.find(({ status }) => status === 429)
    if (refused) return refused
  }
  throw new Error('never refused')
}

test('a person on the Connect page has 60 requests a minute, and the next person has their own 60', async () => {
  expect(rates.vaultConnect).toEqual({ burst: 60, perSecond: 1 })
  const ask = (as: string) => () => world.call(vaultConnect.session, { as })
  const { as, session } = await consented(world, vault)
  expect((await refusedWhenUsedUp('vaultConnect', session.id, ask(as))).error?.code).toBe('rate_limited')
  expect((await ask(vault.connects)()).status).toBe(200)
})

test('a platform key has 600 requests a minute', async () => {
  expect(rates.vaultPlatform).toEqual({ burst: 600, perSecond: 10 })
  const { id, as } = vault.platform
  const list = () => world.call(vaultPlatform.connections, { as })
  const refused = await refusedWhenUsedUp('vaultPlatform', id, list)
  expect(Number(refused.headers.get('retry-after'))).toBe(1)
})

test('an executor has 1,200 releases a minute, and its other calls are counted separately', async () => {
  expect(rates.vaultRelease).toEqual({ burst: 1200, perSecond: 20 })
  const { id, as } = vault.executor
  const { params } = vault
  const refused = await refusedWhenUsedUp('vaultRelease', id, () => world.call(vaultExecutor.release, { as, params }))
  expect(Number(refused.headers.get('retry-after'))).toBe(1)
  expect((await world.call(vaultExecutor.me, { as })).status).toBe(200)
})
