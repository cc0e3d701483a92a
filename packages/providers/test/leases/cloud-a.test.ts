import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutside } from '../outside.ts'
import { key, roleArn, type StsFake, stsFake } from './cloud-a-fake.ts'
import { leaseId } from './mint.ts'

describe('cloud-a leases', () => {
  let fake: StsFake
  beforeAll(async () => {
    fake = await stsFake()
  })
  beforeEach(() => {
    fake.capSeconds = 3600
    fake.isChained = false
    fake.requests = []
  })
  afterAll(() => fake.stop())

  type Config = LeaseTarget<'cloud-a'>['config']
  const open = (
    config: Partial<Config> = {},
    credential: object = { accessKeyId: key.id, secretAccessKey: key.secret },
  ) =>
    openLeaseTarget(
      'cloud-a',
      {
        config: {
          provider: 'cloud-a',
          executor: 'in_broker',
          roleArn,
          region: 'eu-central-1',
          externalId: 'from-skerry',
          ...config,
        },
        credential: JSON.stringify(credential),
      },
      testOutside({ 'cloud-a': fake.origin }),
    )
  const lease = (ttlSeconds = 900) => ({
    id: leaseId(),
    ttlSeconds,
    expiresAt: new Date(Date.now() + ttlSeconds * 1000),
  })

  it('assumes the role in the lease’s name, and hands back what the service made', async () => {
    const minted = lease()
    const policy = '{"Version":"2012-10-17","Statement":[]}'
    const issued = await (await open({ sessionPolicy: policy })).create(minted)
    expect(JSON.parse(issued.credential ?? '')).toEqual({
      accessKeyId: 'ASIAEXAMPLE',
      secretAccessKey: 'temporary+secret',
      sessionToken: 'token/==',
    })
    expect(issued.resourceRef).toBe(`skerry-${minted.id}`)
    expect(issued.result).toMatchObject({ region: 'eu-central-1', roleArn })
    expect(Math.abs(Date.parse(issued.result.expiresAt) - minted.expiresAt.getTime())).toBeLessThan(5000)
    expect(fake.requests.map((form) => form.get('Policy'))).toEqual([policy])
  })

  it('says whose credential it is', async () => {
    expect(await (await open()).verify()).toMatchObject({
      server: 'AWS STS eu-central-1',
      notes: [expect.stringContaining('user/skerry'), expect.stringContaining('until it expires')],
    })
  })

  it('a lifetime above the role’s cap is refused with the cap, at registration already', async () => {
    const capped = { reason: 'invalid', message: expect.stringMatching(/7200 s is above the cap.*MaxSessionDuration/) }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    fake.capSeconds = 7200
    await (await open({ maxTtlSeconds: 7200 })).verify()
  })

  it('a lifetime that a chain of roles does not have is refused with that cap, which no setting raises', async () => {
    fake.capSeconds = 7200
    fake.isChained = true
    const capped = {
      reason: 'invalid',
      message: expect.stringMatching(/^7200 s is above the cap.*: 3600 s, since .* the session of a role$/),
    }
    await expect((await open()).create(lease(7200))).rejects.toMatchObject(capped)
    await expect((await open({ maxTtlSeconds: 7200 })).verify()).rejects.toMatchObject(capped)
    await (await open()).create(lease(3600))
  })

  it('a credential that signs wrongly, or may not assume the role, is denied and not repeated', async () => {
    const other = { accessKeyId: key.id, secretAccessKey: 'another-secret-key' }
    const failure = await (await open({}, other)).verify().catch((error) => error)
    expect(failure).toMatchObject({ reason: 'denied' })
    expect(failure.message).not.toContain('another-secret-key')
    await expect((await open({ externalId: 'wrong' })).create(lease())).rejects.toMatchObject({ reason: 'denied' })
  })

  it('what is no access key of a user is refused before anything is sent', async () => {
    const session = { accessKeyId: 'ASIAIOSFODNN7EXAMPLE', secretAccessKey: 's' }
    for (const credential of [session, {}, { accessKeyId: 'x', secretAccessKey: 's' }])
      await expect(open({}, credential)).rejects.toMatchObject({ reason: 'invalid' })
    await expect(open({ roleArn: 'arn:aws:iam::1:user/x' })).rejects.toMatchObject({ reason: 'invalid' })
    expect(fake.requests).toEqual([])
  })

  it('a service that does not answer is unreachable', async () => {
    const target = await openLeaseTarget(
      'cloud-a',
      {
        config: { provider: 'cloud-a', executor: 'in_broker', roleArn, region: 'eu-central-1' },
        credential: JSON.stringify({ accessKeyId: key.id, secretAccessKey: key.secret }),
      },
      testOutside({ 'cloud-a': 'http://127.0.0.1:1' }),
    )
    await expect(target.create(lease())).rejects.toMatchObject({ reason: 'unreachable' })
  })
})
