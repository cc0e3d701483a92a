import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import { testOutside } from '../outside.ts'
import { leaseId } from './mint.ts'
import { isSigned } from './sigv4.ts'

// A fake of the STS Query API (2011-06-15), from the service’s published model. Not verified against the real service.

const key = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const roleArn = 'arn:aws:iam::123456789012:role/deploy'
const xmlns = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
const fields = ['Action', 'Version', 'RoleArn', 'RoleSessionName', 'DurationSeconds', 'ExternalId', 'Policy']

describe('cloud-a leases', () => {
  let origin: string
  let stop: () => Promise<void>
  let cap = 3600
  let requests: URLSearchParams[] = []

  const refusal = (status: number, code: string, message: string): FakeAnswer => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse ${xmlns}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  })

  function answer(request: FakeRequest): FakeAnswer {
    if (request.method !== 'POST' || request.path !== '/') return refusal(400, 'InvalidAction', 'no such operation')
    if (!isSigned(request, { ...key, region: 'eu-central-1', service: 'sts' }))
      return refusal(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match')
    const form = new URLSearchParams(request.body)
    requests.push(form)
    const unknown = [...form.keys()].find((name) => !fields.includes(name))
    if (form.get('Version') !== '2011-06-15' || unknown) return refusal(400, 'InvalidParameter', `unknown ${unknown}`)
    if (form.get('Action') === 'GetCallerIdentity') return identity()
    return form.get('Action') === 'AssumeRole' ? assume(form) : refusal(400, 'InvalidAction', 'no such operation')
  }

  const identity = (): FakeAnswer => ({
    status: 200,
    headers: { 'content-type': 'text/xml' },
    body: `<GetCallerIdentityResponse ${xmlns}><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/skerry</Arn><UserId>U</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
  })

  function assume(form: URLSearchParams): FakeAnswer {
    const seconds = Number(form.get('DurationSeconds'))
    if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? ''))
      return refusal(400, 'ValidationError', 'RoleSessionName failed to satisfy constraint')
    if (form.get('RoleArn') !== roleArn || form.get('ExternalId') !== 'from-skerry')
      return refusal(403, 'AccessDenied', 'User is not authorized to perform: sts:AssumeRole')
    if (seconds > cap)
      return refusal(
        400,
        'ValidationError',
        'The requested DurationSeconds exceeds the MaxSessionDuration set for this role.',
      )
    const until = new Date(Date.now() + seconds * 1000).toISOString()
    return {
      status: 200,
      headers: { 'content-type': 'text/xml' },
      body: `<AssumeRoleResponse ${xmlns}><AssumeRoleResult><AssumedRoleUser><Arn>a</Arn><AssumedRoleId>i</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>temporary+secret</SecretAccessKey><SessionToken>token/==</SessionToken><Expiration>${until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
    }
  }

  beforeAll(async () => {
    const fake = await httpFake(answer)
    origin = fake.origin
    stop = fake.stop
  })
  beforeEach(() => {
    cap = 3600
    requests = []
  })
  afterAll(() => stop())

  type Config = LeaseTarget<'cloud-a'>['config']
  const open = (config: Partial<Config> = {}, credential: object = { accessKeyId: key.id, secretAccessKey: key.secret }) =>
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
        origin,
      },
      testOutside(),
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
    expect(requests.map((form) => form.get('Policy'))).toEqual([policy])
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
    cap = 7200
    await (await open({ maxTtlSeconds: 7200 })).verify()
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
    expect(requests).toEqual([])
  })

  it('a service that does not answer is unreachable', async () => {
    const target = await openLeaseTarget(
      'cloud-a',
      {
        config: { provider: 'cloud-a', executor: 'in_broker', roleArn, region: 'eu-central-1' },
        credential: JSON.stringify({ accessKeyId: key.id, secretAccessKey: key.secret }),
        origin: 'http://127.0.0.1:1',
      },
      testOutside(),
    )
    await expect(target.create(lease())).rejects.toMatchObject({ reason: 'unreachable' })
  })
})
