import { me } from '@skerry/contract/me/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyIssuer, newKey, type SigningKey, sign, startKeyIssuer } from '../../test/services/key-issuer.ts'
import { signUp } from '../../test/tenant.ts'
import { openWorld, type World } from '../../test/world.ts'

const audience = 'skerry-tests'
let world: World
let issuer: KeyIssuer
let key: SigningKey
beforeAll(async () => {
  key = await newKey('ES256', 'one')
  issuer = await startKeyIssuer([key])
  world = await openWorld({ SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: audience })
})
afterAll(async () => {
  await world.close()
  await issuer.close()
})

async function signIn() {
  const seconds = Math.floor(world.clock.now().getTime() / 1000)
  const jwt = await sign(key, { iss: issuer.url, aud: audience, sub: 'someone', exp: seconds + 60 })
  return world.call(me.get, { as: `Bearer ${jwt}` })
}

const reasons = {
  failing: /gives no discovery: discovery answered 5\d\d/,
  garbled: /gives no discovery: its answer is not JSON/,
  gone: /gives no discovery: fetch failed/,
  misnamed: /gives no discovery: discovery names another issuer/,
}

// The order matters: the server reaches its identity provider for the first time in the last test.
describe('an identity provider that cannot be reached', () => {
  test.each(['failing', 'garbled', 'gone', 'misnamed'] as const)(
    'causes a 500, not a 401, while its discovery is %s',
    async (mood) => {
      issuer.discovery = mood
      const before = world.log.length
      const { status, error } = await signIn()
      expect([status, error?.code]).toEqual([500, 'internal'])
      expect(error?.message).not.toContain(issuer.url)
      const told = world.log
        .slice(before)
        .filter((line) => line.includes('"error":"IssuerUnavailable","code":"discovery"'))
      expect(told).toHaveLength(1)
      expect(JSON.parse(told[0] as string).reason).toMatch(reasons[mood])
    },
  )

  test('does not lock out machine clients', async () => {
    const tenant = await signUp(world)
    for (const actor of [tenant.machine, tenant.admin])
      expect((await world.call(me.get, { as: actor.as })).status).toBe(200)
  })

  test.each(['failing', 'garbled', 'gone'] as const)('causes a 500 while its first keys are %s', async (mood) => {
    issuer.discovery = 'well'
    issuer.jwks = mood
    expect((await signIn()).status).toBe(500)
  })

  test('is queried again, so that people can sign in when it is back', async () => {
    issuer.jwks = 'well'
    expect((await signIn()).status).toBe(200)
  })
})
