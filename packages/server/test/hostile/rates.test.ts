import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { describe, expect, test } from 'vitest'
import { attemptRules } from '../../src/identity/throttle.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { rates } from '../../src/kernel/rate-limits.ts'
import { openTenant } from '../scene.ts'
import { newMember, newToken, signUp, type Tenant } from '../tenant.ts'
import { openWorld } from '../world.ts'

const { world, tenant } = await openTenant({ SKERRY_RATE_LIMITS: 'on', SKERRY_TRUSTED_PROXIES: '127.0.0.1' })

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const wrong = `Basic ${Buffer.from(`m2m_${'0'.repeat(22)}:wrong`).toString('base64')}`

/** Sends until a request gets 429. It may take more than the burst, because the bucket refills meanwhile. */
async function untilRefused(send: () => Promise<{ status: number; headers: Headers; error: unknown }>, burst: number) {
  for (let sent = 0; sent < burst * 2 + 50; sent++) {
    const answer = await send()
    if (answer.status === 429) return { sent, answer }
  }
  throw new Error('never refused')
}

describe('signing up', () => {
  const send = (address: string) => () =>
    world.call(signup.create, { ...from(address), body: { orgName: 'Acme', orgSlug: 'rated' } })

  test('is limited per IP address, with a retry-after header, and other addresses are not affected', async () => {
    const { sent, answer } = await untilRefused(send('192.0.2.1'), rates.signup.burst)
    expect(sent).toBe(rates.signup.burst)
    expect(answer.error).toMatchObject({ code: 'rate_limited' })
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(1 / rates.signup.perSecond)
    expect((await send('192.0.2.2')()).status).toBe(201)
  })

  test('creates no organization if it is refused', async () => {
    const count = () => world.server.context.db.row<{ n: number }>('select count(*)::int as n from organizations')
    await untilRefused(send('192.0.2.3'), rates.signup.burst)
    const before = await count()
    expect((await send('192.0.2.3')()).status).toBe(429)
    expect(await count()).toEqual(before)
  })
})

describe('invitations to people who did not ask for them are limited', () => {
  const invite = (from: string, by: Tenant, email: string) =>
    world.call(invites.create, { as: by.machine.as, params: { orgId: by.orgId }, body: { email }, ...at(from) })
  const at = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const sentBy = async (send: (number: number) => Promise<{ status: number; error: unknown }>, most: number) => {
    const answers = await Promise.all(Array.from({ length: most + 5 }, (_, number) => send(number)))
    const refused = answers.filter(({ status }) => status !== 201)
    for (const { status, error } of refused) expect([status, error]).toMatchObject([429, { code: 'rate_limited' }])
    return answers.length - refused.length
  }
  const waiting = async () =>
    (await world.server.context.db.row<{ n: number }>('select count(*)::int as n from invitations'))?.n ?? 0

  test('per IP address, for all organizations without members together', async () => {
    const strangers = await Promise.all([signUp(world), signUp(world)])
    const { max } = attemptRules.invitation_memberless
    const before = await waiting()
    const send = (number: number) =>
      invite('192.0.2.60', strangers[number % 2] as Tenant, `stranger-${number}@example.com`)
    expect(await sentBy(send, max)).toBe(max)
    expect(await waiting()).toBe(before + max)
    expect((await invite('192.0.2.61', strangers[0] as Tenant, 'elsewhere@example.com')).status).toBe(201)
    world.clock.advance(3601)
    expect((await invite('192.0.2.60', strangers[0] as Tenant, 'later@example.com')).status).toBe(201)
  })

  test('per mailbox, for all organizations together', async () => {
    const { max } = attemptRules.invitation_mailbox
    const organizations = await Promise.all(Array.from({ length: max + 5 }, () => signUp(world)))
    const send = (number: number) =>
      invite(`192.0.2.${70 + number}`, organizations[number] as Tenant, 'Victim@example.com')
    expect(await sentBy(send, max)).toBe(max)
    expect((await invite('192.0.2.90', organizations.at(-1) as Tenant, 'other@example.com')).status).toBe(201)
  })

  test('per organization from all IP addresses, and per IP address for all organizations', async () => {
    const own = await signUp(world)
    await newMember(world, own, 'admin', { keys: false })
    const [org, address] = [attemptRules.invitation_org.max, attemptRules.invitation_address.max]
    // The member was invited too, so one invitation is already used.
    const send = (number: number) => invite(`198.51.100.${number}`, own, `guest-${number}@example.com`)
    expect(await sentBy(send, org - 1)).toBe(org - 1)
    const other = await signUp(world)
    await newMember(world, other, 'admin', { keys: false })
    expect(await sentBy((number) => invite('203.0.113.1', other, `more-${number}@example.com`), address - 1)).toBe(
      address - 1,
    )
    const third = await signUp(world)
    await newMember(world, third, 'admin', { keys: false })
    expect((await invite('203.0.113.1', third, 'one@example.com')).status).toBe(201)
    expect((await invite('203.0.113.1', third, 'two@example.com')).status).toBe(429)
  })
})

describe('wrong credentials', () => {
  test('are limited for their address, while valid callers of the same address still pass', async () => {
    const address = from('192.0.2.10')
    const { sent } = await untilRefused(() => world.call(me.get, { as: wrong, ...address }), rates.stranger.burst)
    expect(sent).toBeGreaterThanOrEqual(rates.stranger.burst)
    const answers = await Promise.all(
      [tenant.machine.as, tenant.admin.as].map((as) => world.call(me.get, { as, ...address })),
    )
    expect(answers.map((answer) => answer.status)).toEqual([200, 200])
    expect((await world.call(me.get, { as: wrong, ...from('192.0.2.11') })).status).toBe(401)
  })

  test('are limited at the token endpoint, while valid clients of the same address still get tokens', async () => {
    const address = from('192.0.2.20')
    const body = { grant_type: 'client_credentials' }
    const { answer } = await untilRefused(
      () => world.call(oauth.token, { as: wrong, body, ...address }),
      rates.stranger.burst,
    )
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await world.call(oauth.token, { as: tenant.machine.as, body, ...address })).status).toBe(200)
  })

  test('are limited even if they were valid before and are still in the cache', async () => {
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const { as } = await newToken(world, tenant, { role: 'admin', expiresAt })
    expect((await world.call(me.get, { as })).status).toBe(200)
    world.clock.advance(61)
    const input = { as, params: { orgId: tenant.orgId }, body: { name: 'Late', slug: 'late' } }
    const send = () => world.call(apps.create, { ...input, ...from('192.0.2.40') })
    expect((await untilRefused(send, rates.stranger.burst)).sent).toBeGreaterThanOrEqual(rates.stranger.burst)
  })

  test('are limited in the same way if they are missing', async () => {
    const { sent } = await untilRefused(() => world.call(me.get, from('192.0.2.30')), rates.stranger.burst)
    expect(sent).toBeGreaterThanOrEqual(rates.stranger.burst)
  })
})

describe('a principal', () => {
  /** Uses up the rate limit of the principal without sending requests. */
  function exhaust(id: string) {
    try {
      for (let taken = 0; taken < 10 * rates.principal.burst; taken++)
        world.server.context.limiter.take('principal', id, {})
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limited') return
      throw error
    }
    throw new Error('never refused')
  }

  test('that sends too many requests gets 429, and others do not', async () => {
    const token = await newToken(world, tenant)
    exhaust(token.id)
    expect((await world.call(me.get, { as: token.as })).status).toBe(429)
    expect((await world.call(me.get, { as: tenant.admin.as })).status).toBe(200)
  })

  test('that is a machine client is limited at the token endpoint too', async () => {
    const other = await signUp(world)
    exhaust(other.machine.id)
    const input = { as: other.machine.as, body: { grant_type: 'client_credentials' } }
    expect((await world.call(oauth.token, input)).status).toBe(429)
  })
})

describe('an address', () => {
  test('counts as the same address, whatever port a proxy adds to it', async () => {
    let port = 49_152
    const send = () =>
      world.call(signup.create, { ...from(`192.0.2.40:${++port}`), body: { orgName: 'Acme', orgSlug: 'rated' } })
    expect((await untilRefused(send, rates.signup.burst)).sent).toBe(rates.signup.burst)
  })

  test('is that of the connection if no proxy is trusted, whatever a header says', async () => {
    const bare = await openWorld({ SKERRY_RATE_LIMITS: 'on' })
    try {
      let count = 0
      const send = () =>
        bare.call(signup.create, { ...from(`192.0.2.${++count}`), body: { orgName: 'Acme', orgSlug: 'rated' } })
      expect((await untilRefused(send, rates.signup.burst)).sent).toBe(rates.signup.burst)
    } finally {
      await bare.close()
    }
  })
})
