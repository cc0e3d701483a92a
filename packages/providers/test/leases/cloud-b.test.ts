import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { account, base, type GoogleFake, googleFake, serviceAccountKey } from './cloud-b-fake.ts'
import { leaseId } from './mint.ts'

describe('cloud-b leases', () => {
  let fake: GoogleFake
  beforeAll(async () => {
    fake = await googleFake()
  })
  beforeEach(() => {
    fake.capSeconds = 3600
    fake.generated = []
    fake.exchanges = 0
  })
  afterAll(() => fake.stop())

  type Config = LeaseTarget<'cloud-b'>['config']
  const open = (config: Partial<Config> = {}, credential: object = serviceAccountKey, at = fake.origin) =>
    openLeaseTarget(
      'cloud-b',
      {
        config: { provider: 'cloud-b', executor: 'in_broker', serviceAccount: account, ...config },
        credential: JSON.stringify(credential),
      },
      testOutside({ 'cloud-b': at }),
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
    expect(issued.result).toMatchObject({
      serviceAccount: account,
      scopes: [expect.stringContaining('cloud-platform')],
    })
    expect(issued.result.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(fake.generated[0]).toEqual({
      scope: ['https://www.googleapis.com/auth/cloud-platform'],
      lifetime: '600s',
      delegates: [`projects/-/serviceAccounts/${delegate}`],
    })
    expect(fake.exchanges).toBe(1)
  })

  it('says whose credential it is', async () => {
    expect((await (await open()).verify()).notes[0]).toContain(base)
  })

  it('a lifetime above the account’s cap is refused with the cap, at registration already', async () => {
    const capped = { reason: 'invalid', message: expect.stringMatching(/7200 s is above the cap.*3600 s/) }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    fake.capSeconds = 43_200
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
    expect(fake.exchanges).toBe(0)
  })

  it('a service that does not answer is unreachable', async () => {
    const session = await open({}, serviceAccountKey, 'http://127.0.0.1:1')
    await expect(session.create(lease())).rejects.toMatchObject({ reason: 'unreachable' })
  })
})
