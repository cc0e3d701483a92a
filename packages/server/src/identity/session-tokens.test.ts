import { generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto'
import { me } from '@skerry/contract/me/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { decodeJwt, decodeProtectedHeader, exportSPKI, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromOwnPage, type SignedInBrowser, setUp } from '../../test/people.ts'
import { type KeyIssuer, type SigningKey, startKeyIssuer } from '../../test/services/key-issuer.ts'
import { builtIn, openWorld, serverKey, type World } from '../../test/world.ts'
import { serverKeyOf } from '../keys/server-key.ts'
import { sessionUser } from './sessions.ts'

type Json = Record<string, unknown>
const encode = (value: Json | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/**
 * A verifier under attack: the header and claims that it accepts, and its private key. With that key, each token is
 * valid except for the attack.
 */
interface Target {
  world: World
  header: Json
  claims: () => Json
  privateKey: KeyObject
  publicJwk: JWK
  close: () => Promise<void>
}

/** Signs any header and claims, which no library would do. */
function forge(target: Target, header: Json | string, claims: Json | string, key = target.privateKey): string {
  const text = `${encode(header)}.${encode(claims)}`
  const signature = signBytes('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const statusOf = async (target: Target, jwt: string) =>
  (await target.world.call(me.get, { as: `Bearer ${jwt}` })).status

async function ownTarget(): Promise<Target> {
  const world = await openWorld(builtIn)
  const { as } = await setUp(world)
  const token = as.slice('Bearer '.length)
  const { privateKey, publicJwk } = await stolenKey(world)
  const claims = () => {
    const seconds = Math.floor(world.clock.now().getTime() / 1000)
    return { ...decodeJwt(token), iat: seconds, exp: seconds + 600 }
  }
  return { world, header: decodeProtectedHeader(token), claims, privateKey, publicJwk, close: () => world.close() }
}

/** The keys that a thief of the database and the server key would have. */
async function stolenKey(world: World) {
  const row = await world.server.context.db.row<{ id: string; sealedPrivateKey: string; publicKeyJwk: string }>(
    'select id, sealed_private_key, public_key_jwk from signing_keys',
  )
  if (!row) throw new Error('someone has signed in')
  const jwk = JSON.parse(serverKeyOf(serverKey).open('signing-key', row.id, row.sealedPrivateKey) as string)
  const { createPrivateKey } = await import('node:crypto')
  return { privateKey: createPrivateKey({ key: jwk, format: 'jwk' }), publicJwk: JSON.parse(row.publicKeyJwk) as JWK }
}

async function externalTarget(): Promise<Target> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = { ...(publicKey.export({ format: 'jwk' }) as JWK), kid: 'one', alg: 'ES256', use: 'sig' }
  const issuer: KeyIssuer = await startKeyIssuer([{ jwk: publicJwk } as SigningKey])
  const world = await openWorld({ SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: 'skerry-tests' })
  const claims = () => {
    const seconds = Math.floor(world.clock.now().getTime() / 1000)
    return { iss: issuer.url, aud: 'skerry-tests', sub: 'someone', iat: seconds, exp: seconds + 600 }
  }
  const close = async () => {
    await world.close()
    await issuer.close()
  }
  return { world, header: { alg: 'ES256', kid: 'one' }, claims, privateKey, publicJwk, close }
}

const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
const zeros = Buffer.alloc(32)
const ones = Buffer.alloc(32, 255)
const one = Buffer.concat([Buffer.alloc(31), Buffer.from([1])])

/** Builds a token with another signature. */
const resigned = (target: Target, signature: Buffer | string) => {
  const [header, claims] = forge(target, target.header, target.claims()).split('.')
  return `${header}.${claims}.${typeof signature === 'string' ? signature : signature.toString('base64url')}`
}
const withHeader = (target: Target, more: Json, key?: KeyObject) =>
  forge(target, { ...target.header, ...more }, target.claims(), key)
const withClaims = (target: Target, more: Json) => forge(target, target.header, { ...target.claims(), ...more })
const without = (target: Target, name: string) =>
  forge(target, target.header, Object.fromEntries(Object.entries(target.claims()).filter(([key]) => key !== name)))
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const strangerJwk = stranger.publicKey.export({ format: 'jwk' })
const seconds = (target: Target) => Math.floor(target.world.clock.now().getTime() / 1000)

async function hmac(target: Target, secretOf: (jwk: JWK) => Promise<string> | string, alg = 'HS256') {
  const secret = new TextEncoder().encode((await secretOf(target.publicJwk)).padEnd(64, '\0').slice(0, 200))
  return new SignJWT(target.claims()).setProtectedHeader({ ...target.header, alg }).sign(secret)
}

/** Each row is a complete token with one fault. */
const attacks: [string, (target: Target) => string | Promise<string>][] = [
  ...['none', 'None', 'NONE', 'nOnE'].flatMap((alg): [string, (target: Target) => string][] => [
    [`alg ${alg}, no signature`, (t) => `${encode({ ...t.header, alg })}.${encode(t.claims())}.`],
    [`alg ${alg}, some signature`, (t) => `${encode({ ...t.header, alg })}.${encode(t.claims())}.AAAA`],
    [`alg ${alg}, our signature`, (t) => withHeader(t, { alg })],
  ]),
  ['no alg', (t) => forge(t, { kid: t.header.kid, typ: t.header.typ }, t.claims())],
  ['alg of another curve', (t) => withHeader(t, { alg: 'ES384' })],
  ['alg ES256K', (t) => withHeader(t, { alg: 'ES256K' })],
  ['alg as a list', (t) => withHeader(t, { alg: ['ES256'] })],
  [
    'HMAC with the public key as PEM',
    (t) => hmac(t, async (jwk) => exportSPKI((await importJWK(jwk, 'ES256')) as CryptoKey)),
  ],
  ['HMAC with the public key as JWK', (t) => hmac(t, (jwk) => JSON.stringify(jwk))],
  ['HMAC with a coordinate of the public key', (t) => hmac(t, (jwk) => jwk.x as string, 'HS512')],
  ['the key of a stranger', (t) => withHeader(t, {}, stranger.privateKey)],
  ['the key of a stranger, included as jwk', (t) => withHeader(t, { jwk: strangerJwk }, stranger.privateKey)],
  ['the key of a stranger, and jku', (t) => withHeader(t, { jku: 'http://127.0.0.1:9/jwks' }, stranger.privateKey)],
  ['the key of a stranger, and x5u', (t) => withHeader(t, { x5u: 'http://127.0.0.1:9/x' }, stranger.privateKey)],
  ['the key of a stranger, and x5c', (t) => withHeader(t, { x5c: ['AAAA'] }, stranger.privateKey)],
  ['an unknown kid', (t) => withHeader(t, { kid: 'A'.repeat(16) })],
  ['a kid that is a path', (t) => withHeader(t, { kid: '../../../../dev/null' })],
  ['a kid that is SQL', (t) => withHeader(t, { kid: "' or '1'='1" })],
  ['an unknown critical header', (t) => withHeader(t, { crit: ['exp2'], exp2: 1 })],
  ['an empty list of critical headers', (t) => withHeader(t, { crit: [] })],
  ['a payload that is not encoded (b64 false)', (t) => withHeader(t, { crit: ['b64'], b64: false })],
  ['another audience', (t) => withClaims(t, { aud: 'someone-else' })],
  ['no audience', (t) => without(t, 'aud')],
  ['another issuer', (t) => withClaims(t, { iss: 'https://evil.example' })],
  ['an issuer with the same beginning', (t) => withClaims(t, { iss: `${t.claims().iss}x` })],
  ['no issuer', (t) => without(t, 'iss')],
  ['no subject', (t) => without(t, 'sub')],
  ['a subject that is an object', (t) => withClaims(t, { sub: { toString: 'x' } })],
  ['no expiry', (t) => without(t, 'exp')],
  ['expiry in the past', (t) => withClaims(t, { exp: seconds(t) - 1 })],
  ['expiry as a string', (t) => withClaims(t, { exp: String(seconds(t) + 600) })],
  ['expiry null', (t) => withClaims(t, { exp: null })],
  ['a start in the future', (t) => withClaims(t, { nbf: seconds(t) + 60 })],
  [
    'two expiries, the second in the past',
    (t) => {
      const text = JSON.stringify(t.claims())
      return forge(t, t.header, `${text.slice(0, -1)},"exp":${seconds(t) - 1}}`)
    },
  ],
  ['claims that are a list', (t) => forge(t, t.header, JSON.stringify([t.claims()]))],
  ['claims that are a string', (t) => forge(t, t.header, '"claims"')],
  ['claims that are null', (t) => forge(t, t.header, 'null')],
  ['claims that are not JSON', (t) => forge(t, t.header, '{')],
  ['claims that are empty', (t) => forge(t, t.header, '')],
  ['a header that is a list', (t) => forge(t, '[]', t.claims())],
  ['a header that is null', (t) => forge(t, 'null', t.claims())],
  ['a token in a token', (t) => forge(t, { ...t.header, cty: 'JWT' }, forge(t, t.header, t.claims()))],
  ['a signature of zeros', (t) => resigned(t, Buffer.alloc(64))],
  ['r of zero', (t) => resigned(t, Buffer.concat([zeros, one]))],
  ['s of zero', (t) => resigned(t, Buffer.concat([one, zeros]))],
  ['r and s of the group’s order', (t) => resigned(t, Buffer.concat([order, order]))],
  ['r beyond the group’s order', (t) => resigned(t, Buffer.concat([ones, one]))],
  ['s beyond the group’s order', (t) => resigned(t, Buffer.concat([one, ones]))],
  [
    'a signature in DER',
    (t) => {
      const text = forge(t, t.header, t.claims()).split('.').slice(0, 2).join('.')
      return `${text}.${signBytes('sha256', Buffer.from(text), t.privateKey).toString('base64url')}`
    },
  ],
  ['a truncated signature', (t) => forge(t, t.header, t.claims()).slice(0, -2)],
  ['a signature with an extra byte', (t) => `${forge(t, t.header, t.claims())}AA`],
  ['a signature with padding', (t) => `${forge(t, t.header, t.claims())}==`],
  ['a signature in non-canonical base64url', (t) => respelt(forge(t, t.header, t.claims()))],
  [
    'claims with padding',
    (t) => {
      const [header, claims, signature] = forge(t, t.header, t.claims()).split('.')
      return `${header}.${claims}=.${signature}`
    },
  ],
  [
    'the signature of other claims',
    (t) => {
      const [header, , signature] = forge(t, t.header, t.claims()).split('.')
      return `${header}.${encode({ ...t.claims(), sub: 'usr_0000000000000000000000' })}.${signature}`
    },
  ],
  ['two parts', (t) => forge(t, t.header, t.claims()).split('.').slice(0, 2).join('.')],
  ['four parts', (t) => `${forge(t, t.header, t.claims())}.AAAA`],
  ['five parts, as if encrypted', (t) => `${forge(t, { alg: 'dir', enc: 'A256GCM' }, t.claims())}.AAAA.AAAA`],
]

/**
 * Respells a signature: the last character of 64 bytes carries two bits of them, and four bits that decoders ignore.
 */
function respelt(jwt: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return jwt.slice(0, -1) + alphabet[alphabet.indexOf(jwt.at(-1) as string) + 1]
}

/** Our own tokens have only one valid form, so more attacks are tested than for an external issuer. */
const ownAttacks: [string, (target: Target) => string | Promise<string>][] = [
  ['no type', (t) => forge(t, { alg: 'ES256', kid: t.header.kid }, t.claims())],
  ['another type', (t) => withHeader(t, { typ: 'JWT' })],
  ['the type of an access token', (t) => withHeader(t, { typ: 'at+jwt' })],
  ['no kid', (t) => forge(t, { alg: 'ES256', typ: t.header.typ }, t.claims())],
  ['no session', (t) => without(t, 'sid')],
  ['another session', (t) => withClaims(t, { sid: 'ses_0000000000000000000000' })],
  ['a session that is an object', (t) => withClaims(t, { sid: {} })],
  ['another person', (t) => withClaims(t, { sub: 'usr_0000000000000000000000' })],
  ['a list of audiences without ours', (t) => withClaims(t, { aud: ['theirs'] })],
  ['a list of audiences with ours and a foreign one', (t) => withClaims(t, { aud: [t.claims().aud, 'theirs'] })],
  [
    'a list of audiences with ours twice and a foreign one',
    (t) => withClaims(t, { aud: [t.claims().aud, 'theirs', t.claims().aud] }),
  ],
  ['a list of audiences with only ours', (t) => withClaims(t, { aud: [t.claims().aud] })],
  ['the issue time as a string', (t) => withClaims(t, { iat: 'now' })],
  [
    'a claim twice',
    (t) => forge(t, t.header, `{"sub":"usr_0000000000000000000000",${JSON.stringify(t.claims()).slice(1)}`),
  ],
  ['spaces between the claims', (t) => forge(t, t.header, JSON.stringify(t.claims(), null, 1))],
  [
    'a claim name with an escape',
    (t) => forge(t, t.header, JSON.stringify(t.claims()).replace('"sub"', '"\\u0073ub"')),
  ],
]

describe.each([
  ['our own session tokens', ownTarget, [...attacks, ...ownAttacks]],
  ['session tokens of an external issuer', externalTarget, attacks],
] as const)('the verifier of %s', (_, open, rows) => {
  let target: Target
  beforeAll(async () => {
    target = await open()
  })
  afterAll(() => target.close())

  test('accepts a forged token with the right key, so each row below fails because of its own fault', async () => {
    expect(await statusOf(target, forge(target, target.header, target.claims()))).toBe(200)
  })

  test.each(rows.map(([name, make]) => [name, make] as const))('refuses %s', async (_name, make) => {
    const { status, error } = await target.world.call(me.get, { as: `Bearer ${await make(target)}` })
    expect([status, error?.code]).toEqual([401, 'unauthorized'])
  })

  test('refuses a compressed payload', async () => {
    const { deflateRawSync } = await import('node:zlib')
    const text = `${encode({ ...target.header, zip: 'DEF' })}.${deflateRawSync(JSON.stringify(target.claims())).toString('base64url')}`
    const signature = signBytes('sha256', Buffer.from(text), { key: target.privateKey, dsaEncoding: 'ieee-p1363' })
    expect(await statusOf(target, `${text}.${signature.toString('base64url')}`)).toBe(401)
  })
})

describe('our own session tokens', () => {
  let world: World
  let browser: SignedInBrowser
  beforeAll(async () => {
    world = await openWorld(builtIn)
    browser = await setUp(world)
  })
  afterAll(() => world.close())

  const published = async () => (await (await fetch(`${world.url}/.well-known/jwks.json`)).json()) as { keys: JWK[] }
  const refresh = () =>
    world.call(signIn.refresh, { headers: { cookie: browser.cookie, ...fromOwnPage } }).then((answer) => {
      browser = { ...browser, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] as string }
      return answer.body.session.token
    })
  const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid

  test('can be verified with the published keys alone, which contain no private part', async () => {
    const { keys } = await published()
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']])
    const token = browser.as.slice('Bearer '.length)
    const key = await importJWK(keys[0] as JWK, 'ES256')
    const { payload } = await jwtVerify(token, key, { currentDate: world.clock.now() })
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sid', 'sub'])
  })

  test('of another Skerry server are refused', async () => {
    const other = await openWorld(builtIn)
    const { as } = await setUp(other)
    expect((await world.call(me.get, { as })).status).toBe(401)
    await other.close()
  })

  test('are signed with a new key after 30 days, and tokens of the old key work until they expire', async () => {
    world.clock.advance(10 * 86_400)
    await refresh()
    world.clock.advance(10 * 86_400)
    await refresh()
    world.clock.advance(10 * 86_400 - 300)
    const last = await refresh()
    world.clock.advance(400)
    const next = await refresh()
    expect(kidOf(next)).not.toBe(kidOf(last))
    for (const token of [last, next]) expect((await world.call(me.get, { as: `Bearer ${token}` })).status).toBe(200)
    expect((await published()).keys).toHaveLength(2)
    world.clock.advance(7200)
    expect((await published()).keys).toHaveLength(1)
  })

  test('are signed with keys that are sealed in the database', async () => {
    const rows = await world.server.context.db.rows<{ sealedPrivateKey: string }>('select * from signing_keys')
    for (const row of rows) {
      expect(row.sealedPrivateKey).toMatch(/^sk1\./)
      expect(JSON.stringify(row)).not.toContain('"d"')
    }
  })

  test('are refused once an external identity provider is configured', async () => {
    const token = await refresh()
    expect((await world.call(me.get, { as: `Bearer ${token}` })).status).toBe(200)
    const external = {
      ...world.server.context,
      oidc: { issuer: 'https://issuer.example', verify: () => Promise.reject() },
    }
    await expect(sessionUser(external, token)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})
