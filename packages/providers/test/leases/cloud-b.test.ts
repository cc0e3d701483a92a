import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import { testOutside } from '../outside.ts'
import { leaseId } from './mint.ts'

// A fake of the token exchange (RFC 7523) and of IAM Credentials v1, from its discovery document. Not verified against the
// real service.

const account = 'deploy@shop-1.iam.gserviceaccount.com'
const base = 'skerry@shop-1.iam.gserviceaccount.com'
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

describe('cloud-b leases', () => {
  let origin: string
  let stop: () => Promise<void>
  let cap = 3600
  let generated: Record<string, unknown>[] = []
  let exchanges = 0

  const refusal = (code: number, status: string, message: string): FakeAnswer => ({
    status: code,
    body: { error: { code, message, status } },
  })

  function answer(request: FakeRequest): FakeAnswer {
    if (request.method !== 'POST') return refusal(404, 'NOT_FOUND', 'no such method')
    if (request.path === '/token') return exchange(request)
    if (request.headers.authorization !== 'Bearer base-token')
      return refusal(401, 'UNAUTHENTICATED', 'invalid authentication credentials')
    const [, name] = /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/.exec(request.path) ?? []
    if (decodeURIComponent(name ?? '') !== account)
      return refusal(403, 'PERMISSION_DENIED', "Permission 'iam.serviceAccounts.getAccessToken' denied")
    return generate(JSON.parse(request.body))
  }

  function exchange(request: FakeRequest): FakeAnswer {
    exchanges++
    const form = new URLSearchParams(request.body)
    const denied = { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } }
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return denied
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const verifier = createVerify('sha256').update(`${header}.${claims}`)
    if (!verifier.verify(createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature, 'base64url'))
      return denied
    const { iss, aud, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    if (iss !== base || aud !== 'https://oauth2.googleapis.com/token' || !scope) return denied
    return { status: 200, body: { access_token: 'base-token', expires_in: 3599, token_type: 'Bearer' } }
  }

  function generate(body: Record<string, unknown>): FakeAnswer {
    generated.push(body)
    const unknown = Object.keys(body).find((name) => !['scope', 'delegates', 'lifetime'].includes(name))
    if (unknown) return refusal(400, 'INVALID_ARGUMENT', `Invalid JSON payload received. Unknown name "${unknown}"`)
    if (!Array.isArray(body.scope) || body.scope.length === 0)
      return refusal(400, 'INVALID_ARGUMENT', 'scope is required')
    const seconds = Number(/^(\d+)s$/.exec(String(body.lifetime))?.[1])
    if (!(seconds <= cap)) return refusal(400, 'INVALID_ARGUMENT', 'The token lifetime is above the maximum')
    const expireTime = new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, '')
    return { status: 200, body: { accessToken: 'ya29.leased', expireTime } }
  }

  beforeAll(async () => {
    const fake = await httpFake(answer)
    origin = fake.origin
    stop = fake.stop
  })
  beforeEach(() => {
    cap = 3600
    generated = []
    exchanges = 0
  })
  afterAll(() => stop())

  const serviceAccountKey = {
    type: 'service_account',
    client_email: base,
    private_key: pem,
    private_key_id: 'k1',
    token_uri: 'https://attacker.example/token',
  }
  type Config = LeaseTarget<'cloud-b'>['config']
  const open = (config: Partial<Config> = {}, credential: object = serviceAccountKey, at = origin) =>
    openLeaseTarget(
      'cloud-b',
      {
        config: { provider: 'cloud-b', executor: 'in_broker', serviceAccount: account, ...config },
        credential: JSON.stringify(credential),
        origin: at,
      },
      testOutside(),
    )
  const lease = (ttlSeconds = 600) => ({
    id: leaseId(),
    ttlSeconds,
    expiresAt: new Date(Date.now() + ttlSeconds * 1000),
  })

  it('makes a token of the account for the lease’s time', async () => {
    const delegate = 'between@shop-1.iam.gserviceaccount.com'
    const session = await open({ delegates: [delegate] })
    const issued = await session.create(lease())
    await session.create(lease())
    expect(issued.credential).toBe('ya29.leased')
    expect(issued.result).toMatchObject({ serviceAccount: account, scopes: [expect.stringContaining('cloud-platform')] })
    expect(issued.result.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(generated[0]).toEqual({
      scope: ['https://www.googleapis.com/auth/cloud-platform'],
      lifetime: '600s',
      delegates: [`projects/-/serviceAccounts/${delegate}`],
    })
    expect(exchanges).toBe(1)
  })

  it('says whose credential it is', async () => {
    expect((await (await open()).verify()).notes[0]).toContain(base)
  })

  it('a lifetime above the account’s cap is refused with the cap, at registration already', async () => {
    const capped = { reason: 'invalid', message: expect.stringMatching(/7200 s is above the cap.*3600 s/) }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    cap = 43_200
    await (await open({ maxTtlSeconds: 7200 })).verify()
  })

  it('a key that is no longer valid, or has no right on the account, is denied', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const stale = { ...serviceAccountKey, private_key: other.export({ type: 'pkcs8', format: 'pem' }) }
    await expect((await open({}, stale)).verify()).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringContaining('invalid_grant'),
    })
    const foreign = await open({ serviceAccount: 'other@shop-1.iam.gserviceaccount.com' })
    await expect(foreign.verify()).rejects.toMatchObject({ reason: 'denied' })
  })

  it('what is no service-account key is refused before anything is sent', async () => {
    const bad = [
      {},
      { ...serviceAccountKey, type: 'authorized_user' },
      { ...serviceAccountKey, universe_domain: 'example.com' },
      { ...serviceAccountKey, private_key: 'x' },
    ]
    for (const credential of bad) await expect(open({}, credential)).rejects.toMatchObject({ reason: 'invalid' })
    expect(exchanges).toBe(0)
  })

  it('a service that does not answer is unreachable', async () => {
    const session = await open({}, serviceAccountKey, 'http://127.0.0.1:1')
    await expect(session.create(lease())).rejects.toMatchObject({ reason: 'unreachable' })
  })
})
