import { me } from '@skerry/contract/me/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine } from '../../test/engine.ts'
import { fromOwnPage, setUp, signInByLink } from '../../test/people.ts'
import { builtIn, call, openWorld, start, type World } from '../../test/world.ts'
import type { RunningServer } from '../server.ts'

const otherKey = Buffer.alloc(32, 9).toString('base64url')

describe.runIf(engine() === 'postgres')('several servers on one database', () => {
  let world: World
  let other: RunningServer
  beforeAll(async () => {
    world = await openWorld(builtIn)
    other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
  })
  afterAll(async () => {
    await other.close()
    await world.close()
  })
  const whoAmI = (url: string, as: string) => call(url, [], me.get, { as })

  test('accept each other’s sessions, and all of them refuse an ended session at its next request', async () => {
    const first = await setUp(world)
    expect((await whoAmI(other.url, first.as)).status).toBe(200)
    const second = await signInByLink(world, 'first@example.com')
    expect((await whoAmI(other.url, second.as)).status).toBe(200)
    const params = { webSessionId: second.sessionId }
    await world.call(sessions.end, { as: first.as, params })
    expect((await whoAmI(other.url, second.as)).status).toBe(401)
  })

  test('renew each other’s sessions', async () => {
    const { cookie } = await signInByLink(world, 'first@example.com')
    const answer = await call(other.url, [], signIn.refresh, { headers: { cookie, ...fromOwnPage } })
    expect(answer.status).toBe(200)
    expect((await world.call(me.get, { as: `Bearer ${answer.body.session.token}` })).status).toBe(200)
  })

  test('count attempts together', async () => {
    world.clock.advance(901)
    const token = 'A'.repeat(43)
    const redeem = (url: string) => call(url, [], signIn.redeemLink, { body: { token } })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => redeem(i % 2 ? other.url : world.url)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(170)
  })

  test('refuse to start with a server key that does not open the database', async () => {
    const config = { ...world.server.context.config, port: 0, serverKey: otherKey }
    await expect(start(config, [], world.clock.now)).rejects.toThrow('SKERRY_SERVER_KEY: is not the key')
  })

  test('refuse sign-ins without a server key, and name the missing setting', async () => {
    const keyless = await start({ ...world.server.context.config, port: 0, serverKey: null }, [], world.clock.now)
    const ask = (endpoint: typeof signIn.requestLink | typeof signIn.redeemLink, body: object) =>
      call(keyless.url, [], endpoint, { body: { ...body } })
    expect((await call(keyless.url, [], signIn.get)).body.available).toBe(false)
    for (const { status, error } of [
      await ask(signIn.requestLink, { email: 'first@example.com' }),
      await ask(signIn.redeemLink, { token: 'A'.repeat(43) }),
    ]) {
      expect([status, error?.code]).toEqual([409, 'conflict'])
      expect(error?.message).toContain('SKERRY_SERVER_KEY')
    }
    await keyless.close()
  })
})

describe('the set-up link', () => {
  test('is created at each start until somebody uses it; an earlier link works, too', async () => {
    const world = await openWorld(builtIn)
    const { config } = world.server.context
    const again = async () => {
      await world.server.close()
      world.server = await start({ ...config, baseUrl: null }, world.log, world.clock.now)
      world.url = world.server.url
      return world.server.setUpLink
    }
    const first = world.server.setUpLink
    const second = await again()
    expect(second).toMatch(/\/set-up#[\w-]{43}$/)
    expect(second?.split('#')[1]).not.toBe(first?.split('#')[1])
    const body = { email: 'a@example.com', name: 'A', orgName: 'A', orgSlug: 'a' }
    const use = (link: string | null) =>
      world.call(signIn.setUp, { body: { ...body, token: link?.split('#')[1] as string } })
    const answers = await Promise.all([use(first), use(second), use(first), use(second)])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await again()).toBeNull()
    await world.close()
  })

  test('works for a day', async () => {
    const world = await openWorld(builtIn)
    world.clock.advance(86_401)
    await expect(setUp(world)).rejects.toThrow('this link has expired or was already used')
    await world.close()
  })

  test('is not created with an external identity provider', async () => {
    const world = await openWorld()
    expect(world.server.setUpLink).toBeNull()
    await world.close()
  })
})

test('a server with the embedded database does not start with a wrong server key', async () => {
  const world = await openWorld(builtIn)
  await setUp(world)
  const { config } = world.server.context
  await world.server.close()
  await expect(start({ ...config, serverKey: otherKey }, [], world.clock.now)).rejects.toThrow('is not the key')
  world.server = await start(config, world.log, world.clock.now)
  await world.close()
})
