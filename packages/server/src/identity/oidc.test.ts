import { me } from '@skerry/contract/me/endpoints'
import { exportSPKI, importJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KeyIssuer, newKey, type SigningKey, sign, startKeyIssuer } from '../../test/services/key-issuer.ts'
import { openWorld, type World } from '../../test/world.ts'

const audience = 'skerry-tests'
let world: World
let issuer: KeyIssuer
let rsa: SigningKey
let p256: SigningKey
let ed: SigningKey
beforeAll(async () => {
  rsa = await newKey('RS256', 'rsa')
  p256 = await newKey('ES256', 'p256')
  ed = await newKey('EdDSA', 'ed')
  issuer = await startKeyIssuer([rsa, p256, ed])
  world = await openWorld({ SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: audience })
})
afterAll(async () => {
  await world.close()
  await issuer.close()
})

const seconds = () => Math.floor(world.clock.now().getTime() / 1000)
const claims = (more: object = {}) => ({
  iss: issuer.url,
  aud: audience,
  sub: 'someone',
  iat: seconds(),
  exp: seconds() + 3600,
  ...more,
})
const without = (name: string) => Object.fromEntries(Object.entries(claims()).filter(([key]) => key !== name))
const present = (jwt: string, at = world) => at.call(me.get, { as: `Bearer ${jwt}` })
const statusOf = async (jwt: string | Promise<string>) => (await present(await jwt)).status
const base64url = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('signatures', () => {
  test('with RS256, ES256 and EdDSA are accepted for the same person', async () => {
    const answers = await Promise.all([rsa, p256, ed].map(async (key) => present(await sign(key, claims()))))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200])
    expect(new Set(answers.map((answer) => answer.body.user?.id)).size).toBe(1)
  })

  test('with the algorithm none are refused, whether empty or not', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      const unsigned = `${base64url({ alg })}.${base64url(claims())}`
      expect(await statusOf(`${unsigned}.`)).toBe(401)
      expect(await statusOf(`${unsigned}.AAAA`)).toBe(401)
    }
  })

  test('with HMAC and the public key as its secret are refused', async () => {
    const key = (await importJWK(rsa.jwk, 'RS256')) as CryptoKey
    const secrets = [
      await exportSPKI(key),
      (await exportSPKI(key)).trim(),
      JSON.stringify(rsa.jwk),
      rsa.jwk.n as string,
    ]
    for (const secret of secrets)
      for (const kid of [rsa.kid, undefined]) {
        const jwt = new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', ...(kid ? { kid } : {}) })
          .sign(new TextEncoder().encode(secret))
        expect(await statusOf(jwt)).toBe(401)
      }
  })

  test('with an unsupported algorithm are refused, even with a key of the issuer', async () => {
    for (const alg of ['PS256', 'RS512', 'ES384']) {
      const other = await newKey(alg, alg)
      issuer.keys.push(other.jwk)
      expect(await statusOf(sign(other, claims()))).toBe(401)
      issuer.keys.pop()
    }
  })

  test('with a foreign key under a known key id are refused', async () => {
    expect(await statusOf(sign({ ...(await newKey('ES256', 'p256')), kid: 'p256' }, claims()))).toBe(401)
  })

  test('of other claims are refused', async () => {
    const [header, , signature] = (await sign(p256, claims())).split('.')
    expect(await statusOf(`${header}.${base64url(claims({ sub: 'someone else' }))}.${signature}`)).toBe(401)
  })

  test('without a key id are checked against every key', async () => {
    const twin = await newKey('ES256', 'twin')
    const two = await startKeyIssuer([p256, twin])
    const other = await openWorld({ SKERRY_OIDC_ISSUER: two.url, SKERRY_OIDC_AUDIENCE: audience })
    const own = claims({ iss: two.url })
    for (const key of [p256, twin]) expect((await present(await sign(key, own, {}), other)).status).toBe(200)
    expect((await present(await sign(await newKey('ES256', 'third'), own, {}), other)).status).toBe(401)
    await other.close()
    await two.close()
  })

  test('of malformed tokens are refused', async () => {
    for (const text of ['a.b.c', `${base64url('{')}.e30.e30`, `${base64url({ alg: 'ES256' })}.${base64url('[]')}.AAAA`])
      expect(await statusOf(text)).toBe(401)
  })
})

describe('claims', () => {
  test.each([
    ['another issuer', () => claims({ iss: 'https://other.example' })],
    ['the issuer with an extra slash', () => claims({ iss: `${issuer.url}/` })],
    ['no issuer', () => without('iss')],
    ['another audience', () => claims({ aud: 'someone-else' })],
    ['several other audiences', () => claims({ aud: ['a', 'b'] })],
    ['no audience', () => without('aud')],
    ['an expiry in the past', () => claims({ exp: seconds() - 1 })],
    ['no expiry', () => without('exp')],
    ['an expiry that is not a number', () => claims({ exp: 'never' })],
    ['a start in the future', () => claims({ nbf: seconds() + 60 })],
    ['no subject', () => without('sub')],
    ['an empty subject', () => claims({ sub: '' })],
    ['a subject that is not a string', () => claims({ sub: 7 })],
    ['a subject with a NUL character', () => claims({ sub: 'some\0one' })],
    ['a subject of 256 characters', () => claims({ sub: 'x'.repeat(256) })],
  ])('with %s are refused', async (_, given) => {
    const answer = await present(await sign(p256, given()))
    expect([answer.status, answer.error?.message]).toEqual([401, 'session token refused'])
  })

  test('with our audience among others are accepted', async () => {
    expect(await statusOf(sign(p256, claims({ aud: ['other', audience] })))).toBe(200)
  })

  test('are valid from nbf to exp', async () => {
    const jwt = await sign(p256, claims({ nbf: seconds() + 60, exp: seconds() + 120 }))
    expect(await statusOf(jwt)).toBe(401)
    world.clock.advance(61)
    expect(await statusOf(jwt)).toBe(200)
    world.clock.advance(60)
    expect(await statusOf(jwt)).toBe(401)
  })
})

test('a refused token is neither logged nor repeated in the answer', async () => {
  const jwt = await sign(p256, claims({ aud: 'someone-else' }))
  await present(jwt)
  for (const part of jwt.split('.')) expect(JSON.stringify([world.log, world.answers])).not.toContain(part)
})

test('a server without an external issuer refuses its session tokens', async () => {
  const bare = await openWorld({ SKERRY_OIDC_ISSUER: '', SKERRY_OIDC_AUDIENCE: '' })
  expect((await present(await sign(p256, claims()), bare)).status).toBe(401)
  await bare.close()
})

describe('changed keys of the issuer', () => {
  // jose uses Date: within 30 s of a fetch it fetches no unknown key, and for ten minutes it trusts its cache.
  const later = (ms: number) => vi.setSystemTime(Date.now() + ms)
  beforeAll(() => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
  afterAll(() => vi.useRealTimers())

  test('are fetched again when a token names an unknown key', async () => {
    const fresh = await newKey('ES256', 'fresh')
    issuer.keys.push(fresh.jwk)
    later(31_000)
    const before = issuer.fetches
    expect(await statusOf(sign(fresh, claims()))).toBe(200)
    expect(issuer.fetches).toBe(before + 1)
  })

  test('are fetched once for many tokens with unknown keys', async () => {
    const stranger = await newKey('ES256', 'stranger')
    later(31_000)
    const before = issuer.fetches
    const jwts = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sign(stranger, claims(), { kid: `unknown-${n}` })),
    )
    for (const jwt of jwts) expect(await statusOf(jwt)).toBe(401)
    expect(issuer.fetches).toBe(before + 1)
  })

  test('are refused within ten minutes of their removal', async () => {
    issuer.keys = issuer.keys.filter(({ kid }) => kid !== ed.kid)
    later(601_000)
    expect(await statusOf(sign(ed, claims()))).toBe(401)
    expect(await statusOf(sign(p256, claims()))).toBe(200)
  })

  test.each(['failing', 'garbled', 'gone'] as const)(
    'cause a 500 while the key endpoint is %s, and work once it is back',
    async (mood) => {
      later(601_000)
      issuer.jwks = mood
      const { status, error } = await present(await sign(p256, claims()))
      issuer.jwks = 'well'
      expect([status, error?.code]).toEqual([500, 'internal'])
      expect(await statusOf(sign(p256, claims()))).toBe(200)
    },
  )
})
