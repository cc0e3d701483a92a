import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { OutboundError } from '../../src/outbound.ts'
import { testOutbound } from '../outbound.ts'
import { account, base, type GoogleFake, googleFake, serviceAccountKey } from './google-iam-fake.ts'
import { leaseConformance } from './lease-conformance.ts'
import { askFor } from './mint.ts'

type Config = LeaseTarget<'cloud-b'>['config']

const scene = async () => {
  const fake = await googleFake()
  const target = (): LeaseTarget<'cloud-b'> => ({
    config: { provider: 'cloud-b', executor: 'in_broker', serviceAccount: account },
    credential: JSON.stringify(serviceAccountKey),
  })
  return { fake, server: /^Google IAM Credentials$/, origin: fake.origin, target, stop: fake.stop }
}
type Scene = Awaited<ReturnType<typeof scene>>

const lease = (ttlSeconds = 600) => askFor(ttlSeconds).lease

const suite = {
  start: scene,
  ask: () => askFor(600),
  async use({ fake }: Scene, _: object, { credential = '' }: { credential?: string }) {
    expect(fake.tokens.get(credential)?.getTime()).toBeGreaterThan(Date.now())
  },
  validUntil: async ({ fake }: Scene, _: object, { credential = '' }: { credential?: string }) =>
    fake.tokens.get(credential)!,
  wrong() {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    return JSON.stringify({ ...serviceAccountKey, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) })
  },
}

leaseConformance('cloud-b', undefined, suite, (use) => {
  let fake: GoogleFake
  beforeEach(() => {
    fake = use.scene().fake
    fake.capSeconds = 3600
    fake.generated = []
    fake.exchanges = 0
  })

  const open = (config: Partial<Config> = {}) => use.open({ config: { ...use.scene().target().config, ...config } })

  it('a lease gets a token of the account for the time of the lease', async () => {
    const delegate = 'between@shop-1.iam.gserviceaccount.com'
    const session = await open({ delegates: [delegate] })
    const issued = await session.create(lease())
    await session.create(lease())
    expect(issued.credential).toMatch(/^ya29\./)
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

  it('the notes name the owner of the base credential', async () => {
    expect((await (await open()).verify()).notes[0]).toContain(base)
  })

  it('a lifetime above the account’s cap is refused with the cap, already at registration', async () => {
    const capped = {
      reason: 'invalid',
      message: expect.stringMatching(/7200 s is more than this account allows.*3600 s/),
    }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    fake.capSeconds = 43_200
    await (await open({ maxTtlSeconds: 7200 })).verify()
  })

  it('a key that is no longer valid is refused with the error of the token exchange', async () => {
    const stale = await use.open({ credential: suite.wrong() })
    await expect(stale.verify()).rejects.toMatchObject({ message: expect.stringContaining('invalid_grant') })
  })

  it('a key without rights on the account is denied', async () => {
    const foreign = await open({ serviceAccount: 'other@shop-1.iam.gserviceaccount.com' })
    await expect(foreign.verify()).rejects.toMatchObject({ reason: 'denied' })
  })

  it('a credential that is no service account key is refused before anything is sent', async () => {
    const bad = [
      { ...serviceAccountKey, type: 'authorized_user' },
      { ...serviceAccountKey, universe_domain: 'example.com' },
      { ...serviceAccountKey, private_key: 'x' },
    ]
    for (const credential of bad)
      await expect(use.open({ credential: JSON.stringify(credential) })).rejects.toMatchObject({ reason: 'invalid' })
    expect(fake.exchanges).toBe(0)
  })

  it('a token exchange without an answer is tried only once', async () => {
    let asked = 0
    const send = async () => {
      asked++
      throw new OutboundError('timeout', 'no answer')
    }
    const session = await openLeaseTarget('cloud-b', use.scene().target(), { ...testOutbound(), send })
    await expect(session.create(lease())).rejects.toMatchObject({ reason: 'unreachable' })
    expect(asked).toBe(1)
  })
})
