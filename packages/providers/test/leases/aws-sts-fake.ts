import { randomBytes } from 'node:crypto'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import { isSigned } from './sigv4.ts'

// A fake of the STS Query API (2011-06-15), from the service’s published model. Not verified against the real service.

/** An access key of a user. */
export const key = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
export const roleArn = 'arn:aws:iam::123456789012:role/deploy'
const xmlns = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
const fields = ['Action', 'Version', 'RoleArn', 'RoleSessionName', 'DurationSeconds', 'ExternalId', 'Policy']

/** The constraints of AssumeRoleRequest in the service model. */
const forms: Readonly<Record<string, (value: string | null) => boolean>> = {
  RoleArn: (value) => value !== null && value.length >= 20 && value.length <= 2048,
  RoleSessionName: (value) => /^[\w+=,.@-]{2,64}$/.test(value ?? ''),
  DurationSeconds: (value) =>
    value === null || (/^\d+$/.test(value) && Number(value) >= 900 && Number(value) <= 43_200),
  ExternalId: (value) => value === null || /^[\w+=,.@:/-]{2,1224}$/.test(value),
  Policy: (value) => value === null || /^[\t\n\r\u0020-\u00ff]+$/.test(value),
}

export interface StsFake {
  origin: string
  /** MaxSessionDuration of the role. */
  capSeconds: number
  /**
   * Whether the caller’s key is itself of a role session. AWS then limits a session to one hour, whatever the role
   * allows.
   */
  isChained: boolean
  /** The sessions that the fake has created, by token. */
  sessions: Map<string, { id: string; secret: string; until: Date }>
  /** The requests that had a valid signature. */
  requests: URLSearchParams[]
  stop(): Promise<void>
}

/** The service for one role, which requires the external id `from-skerry`. */
export async function stsFake(): Promise<StsFake> {
  const refusal = (status: number, code: string, message: string): FakeAnswer => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: `<ErrorResponse ${xmlns}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  })

  function answer(request: FakeRequest): FakeAnswer {
    if (request.method !== 'POST' || request.path !== '/') return refusal(400, 'InvalidAction', 'no such operation')
    const token = request.headers['x-amz-security-token']
    const session = token === undefined ? undefined : fake.sessions.get(String(token))
    if (token !== undefined && session === undefined)
      return refusal(403, 'InvalidClientTokenId', 'The security token included in the request is invalid')
    if (!isSigned(request, { ...(session ?? key), region: 'eu-central-1', service: 'sts' }))
      return refusal(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match')
    if (session && session.until.getTime() <= Date.now())
      return refusal(403, 'ExpiredToken', 'The security token included in the request is expired')
    const form = new URLSearchParams(request.body)
    fake.requests.push(form)
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
    const wrong = Object.entries(forms).find(([name, isRight]) => !isRight(form.get(name)))?.[0]
    if (wrong) return refusal(400, 'ValidationError', `${wrong} failed to satisfy constraint`)
    if (form.get('RoleArn') !== roleArn || form.get('ExternalId') !== 'from-skerry')
      return refusal(403, 'AccessDenied', 'User is not authorized to perform: sts:AssumeRole')
    if (fake.isChained && seconds > 3600)
      return refusal(
        400,
        'ValidationError',
        'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.',
      )
    if (seconds > fake.capSeconds)
      return refusal(
        400,
        'ValidationError',
        'The requested DurationSeconds exceeds the MaxSessionDuration set for this role.',
      )
    const until = new Date(Date.now() + seconds * 1000)
    const [id, secret] = [`ASIA${randomBytes(8).toString('hex').toUpperCase()}`, randomBytes(24).toString('base64')]
    const token = `${randomBytes(24).toString('base64')}/==`
    fake.sessions.set(token, { id, secret, until })
    return {
      status: 200,
      headers: { 'content-type': 'text/xml' },
      body: `<AssumeRoleResponse ${xmlns}><AssumeRoleResult><AssumedRoleUser><Arn>a</Arn><AssumedRoleId>i</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${until.toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
    }
  }

  const served = await httpFake(answer, {
    contentType: () => 'application/x-www-form-urlencoded',
    refuse: (status, words) => refusal(status, 'MalformedInput', words),
  })
  const fake: StsFake = { ...served, capSeconds: 3600, isChained: false, sessions: new Map(), requests: [] }
  return fake
}
