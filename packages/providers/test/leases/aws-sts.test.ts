import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { beforeEach, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { key, roleArn, type StsFake, stsFake } from './aws-sts-fake.ts'
import { leaseConformance } from './lease-conformance.ts'
import { askFor } from './mint.ts'

type Config = LeaseTarget<'cloud-a'>['config']

const scene = async () => {
  const fake = await stsFake()
  const target = (): LeaseTarget<'cloud-a'> => ({
    config: { provider: 'cloud-a', executor: 'in_broker', roleArn, region: 'eu-central-1', externalId: 'from-skerry' },
    credential: JSON.stringify({ accessKeyId: key.id, secretAccessKey: key.secret }),
  })
  return { fake, server: /^AWS STS eu-central-1$/, origin: fake.origin, target, stop: fake.stop }
}
type Scene = Awaited<ReturnType<typeof scene>>

const lease = (ttlSeconds = 900) => askFor(ttlSeconds).lease

const suite = {
  start: scene,
  ask: () => askFor(900),
  /** Signs a request with the keys of the session. */
  async use({ origin }: Scene, _: object, { credential = '' }: { credential?: string }) {
    const client = new STSClient({ region: 'eu-central-1', endpoint: origin, credentials: JSON.parse(credential) })
    await client.send(new GetCallerIdentityCommand({}))
  },
  validUntil: async ({ fake }: Scene, _: object, { credential = '' }: { credential?: string }) =>
    fake.sessions.get(JSON.parse(credential).sessionToken)!.until,
  wrong: () => JSON.stringify({ accessKeyId: key.id, secretAccessKey: 'another-secret-key' }),
}

leaseConformance('cloud-a', undefined, suite, (use) => {
  let fake: StsFake
  beforeEach(() => {
    fake = use.scene().fake
    fake.capSeconds = 3600
    fake.isChained = false
    fake.requests = []
  })

  const open = (config: Partial<Config> = {}) => use.open({ config: { ...use.scene().target().config, ...config } })

  it('the session has the name of the lease, and the lease returns the keys of the session', async () => {
    const minted = lease()
    const policy = '{"Version":"2012-10-17","Statement":[]}'
    const issued = await (await open({ sessionPolicy: policy })).create(minted)
    expect(JSON.parse(issued.credential ?? '')).toEqual({
      accessKeyId: expect.stringMatching(/^ASIA/),
      secretAccessKey: expect.any(String),
      sessionToken: [...fake.sessions.keys()].at(-1),
    })
    expect(issued.resourceRef).toBe(`skerry-${minted.id}`)
    expect(issued.result).toMatchObject({ region: 'eu-central-1', roleArn })
    expect(fake.requests.map((form) => form.get('Policy'))).toEqual([policy])
  })

  it('the notes name the owner of the base credential', async () => {
    expect((await (await open()).verify()).notes).toEqual([
      expect.stringContaining('user/skerry'),
      expect.stringContaining('until it expires'),
    ])
  })

  it('a lifetime above the role’s cap is refused with the cap, already at registration', async () => {
    const capped = {
      reason: 'invalid',
      message: expect.stringMatching(/7200 s is more than this target allows.*MaxSessionDuration/),
    }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    fake.capSeconds = 7200
    await (await open({ maxTtlSeconds: 7200 })).verify()
  })

  it('a lifetime above one hour is refused for a chain of roles, with the cap that no setting raises', async () => {
    fake.capSeconds = 7200
    fake.isChained = true
    const capped = {
      reason: 'invalid',
      message: expect.stringMatching(
        /^7200 s is more than this target allows: 3600 s, because .* a session of a role$/,
      ),
    }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    await (await open()).create(lease(3600))
  })

  it('a credential that may not assume the role is denied', async () => {
    await expect((await open({ externalId: 'wrong' })).create(lease())).rejects.toMatchObject({ reason: 'denied' })
  })

  it('a credential that is no access key of a user is refused before anything is sent', async () => {
    const session = { accessKeyId: 'ASIAIOSFODNN7EXAMPLE', secretAccessKey: 's' }
    for (const credential of [session, { accessKeyId: 'x', secretAccessKey: 's' }])
      await expect(use.open({ credential: JSON.stringify(credential) })).rejects.toMatchObject({ reason: 'invalid' })
    await expect(open({ roleArn: 'arn:aws:iam::1:user/x' })).rejects.toMatchObject({ reason: 'invalid' })
    expect(fake.requests).toEqual([])
  })
})
