import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { Agent } from 'node:https'
import { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, onTestFinished, test } from 'vitest'
import { startAgentWorld } from './agents.ts'
import { curl } from './curl.ts'
import { type Key, startStrictAws, type Taken } from './strict-aws.ts'
import { certificateFor, forward, lookUpHere, raw, startWorld } from './world.ts'

// The whole path: an unmodified client, the proxy in its settings, and a server that verifies signatures as AWS does.

const real: Key = { accessKeyId: 'AKIDREAL', secretAccessKey: 'the/real+secret', sessionToken: 'the-real-session' }
const standIn = { accessKeyId: 'AKIDSTANDIN', secretAccessKey: 'nothing' }
const values = {
  KEY_ID: real.accessKeyId,
  KEY: real.secretAccessKey,
  SESSION: real.sessionToken!,
  OTHER: 'other-value',
}
const host = 's3.example.test'
const sigv4 = 'sigv4 = { access_key = "KEY_ID", secret_key = "KEY", session_token = "SESSION" }\n'
const ruled = `[[forward.host]]\nmatch = "${host}"\nallow = ["OTHER"]\n${sigv4}`

/** AWS answers a GET with the signature of the request, which names the key. */
const answer = ({ method, headers }: Taken) => (method === 'GET' ? `by ${headers.authorization}` : '')

async function startAws(tls: boolean) {
  const certificate = await certificateFor(host)
  const aws = await startStrictAws(real, answer, tls ? { SNICallback: certificate.sni } : undefined)
  onTestFinished(() => aws.close())
  return { ...aws, ca: certificate.ca, origin: `http${tls ? 's' : ''}://${host}:${aws.port}` }
}

async function intercepted(more = '', hosts = ruled) {
  const aws = await startAws(true)
  const deps = { upstreamCa: aws.ca, lookUp: lookUpHere }
  return { aws, ...(await startWorld(`${more}${forward(hosts)}`, values, deps)) }
}

/** Connects through the proxy as agents for HTTP_PROXY do. */
class Through extends Agent {
  readonly proxy: string

  constructor(proxy: string, ca: string) {
    super({ ca })
    this.proxy = proxy
  }

  override createConnection(options: { host?: string; port?: number }, done: (error: Error | null) => void) {
    const path = `${options.host}:${options.port}`
    const asked = request(this.proxy, { method: 'CONNECT', path, headers: { host: path }, agent: false })
    asked.on('error', done)
    asked.on('connect', (_, socket) => {
      const secure = connect({ ...options, socket, servername: options.host! })
      ;(done as (error: null, socket: unknown) => void)(null, secure)
    })
    asked.end()
    return undefined as never
  }
}

const authorization = (names = 'host;x-amz-date') =>
  `Authorization: AWS4-HMAC-SHA256 Credential=AKIDSTANDIN/20200101/us-east-1/sts/aws4_request, SignedHeaders=${names}, Signature=${'0'.repeat(64)}`

test('an AWS SDK with stand-in credentials puts an object as a stream, larger than the body limit, and gets an object', async () => {
  const { aws, ...world } = await intercepted()
  const httpsAgent = new Through(world.forward!, await readFile(world.certificatePath!, 'utf8'))
  onTestFinished(() => httpsAgent.destroy())
  const client = new S3Client({
    endpoint: aws.origin,
    region: 'eu-central-1',
    credentials: standIn,
    maxAttempts: 1,
    forcePathStyle: true,
    requestHandler: { httpsAgent },
  })
  const bytes = randomBytes(3_000_000)
  const pieces = Array.from({ length: 30 }, (_, at) => bytes.subarray(at * 100_000, (at + 1) * 100_000))
  const put = { Bucket: 'b', Key: 'streamed', ContentLength: bytes.length }
  await client.send(new PutObjectCommand({ ...put, Body: Readable.from(pieces) }))
  expect(aws.taken.map(({ method, body }) => [method, body.equals(bytes)])).toEqual([['PUT', true]])
  expect(aws.taken[0]!.headers['x-amz-content-sha256']).toMatch(/^STREAMING-/)
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'b', Key: 'k' }))
  const got = await Body!.transformToString()
  expect(got).toMatch(/Credential=\[redacted by skerry: KEY_ID\]\//)
  expect(JSON.stringify(aws.taken.map(({ headers }) => headers))).not.toContain('STANDIN')
})

test('a body whose hash the request does not contain is read whole, up to the limit', async () => {
  const { aws, ...world } = await intercepted('max_request_body_bytes = 8\n')
  const post = (body: string) =>
    curl(world, '-i', '-H', authorization(), '-H', 'X-Other: {{skerry:OTHER}}', '-d', body, aws.origin)
  expect((await post('Action=1')).stdout).toContain('HTTP/1.1 200')
  expect((await post('Action=12')).stdout).toContain('x-skerry-refusal: body_too_large')
  expect(aws.taken.map(({ body, headers }) => [String(body), headers['x-other']])).toEqual([
    ['Action=1', 'other-value'],
  ])
})

test.each([
  ['is not signed', [], 'bad_request'],
  ['has a placeholder of the key', ['-H', authorization(), '-H', 'A: {{skerry:KEY}}'], 'denied'],
  ['is signed twice', ['-H', authorization(), '-H', 'authorization: Bearer x'], 'bad_request'],
  ['has an unknown kind of hash', ['-H', authorization(), '-H', 'x-amz-content-sha256: mine'], 'bad_request'],
])('a request that %s is refused, and nothing is sent', async (_, asked, refusal) => {
  const { aws, ...world } = await intercepted()
  const done = await curl(world, '-i', ...asked, `${aws.origin}/`)
  expect(done.stdout).toContain(`x-skerry-refusal: ${refusal}`)
  expect(aws.taken).toEqual([])
})

test('a signed stream that is malformed in the middle never arrives complete', async () => {
  const { aws, ...world } = await intercepted()
  const asked = ['-H', 'x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD', '-H', authorization()]
  const done = await curl(world, '-i', '-X', 'PUT', ...asked, '-d', '5;chunk-signature=0\r\nabc', `${aws.origin}/`)
  expect(done.stdout).toContain('x-skerry-refusal: bad_request')
  expect(aws.taken).toEqual([])
})

test('a request whose key is missing is not sent', async () => {
  const missing = await intercepted('', ruled.replace('"SESSION"', '"NONE"'))
  const done = await curl(missing, '-i', '-H', authorization(), missing.aws.origin)
  expect(done.stdout).toContain('x-skerry-refusal: unresolved')
  expect(missing.aws.taken).toEqual([])
})

test('a key is not sent to another machine over plain HTTP, unless the host allows it', async () => {
  const aws = await startAws(false)
  const ask = async (hosts: string, header: string) => {
    const world = await startWorld(forward(hosts), values, { lookUp: lookUpHere })
    return (await curl(world, '-i', '-H', header, aws.origin)).stdout
  }
  expect(await ask(ruled, authorization())).toContain('x-skerry-refusal: denied')
  const unsigned = ruled.replace(sigv4, '')
  expect(await ask(unsigned, 'A: {{skerry:OTHER}}')).toContain('x-skerry-refusal: denied')
  expect(await ask(unsigned, 'A: b')).toContain('SignatureDoesNotMatch')
  expect(aws.taken).toEqual([])
  expect(await ask(`${ruled}allow_http = true`, authorization())).toContain('by AWS4-HMAC-SHA256')
  expect(aws.taken.length).toBe(1)
})

test('a route signs requests too', async () => {
  const aws = await startAws(false)
  const world = await startWorld(
    `[[route]]\nprefix = "/aws"\nupstream = "http://127.0.0.1:${aws.port}"\n${sigv4}`,
    values,
  )
  const head = `GET /aws/x HTTP/1.1\r\nHost: here\r\nConnection: close\r\n${authorization()}\r\n\r\n`
  expect(await raw(world.reverse!, head)).toMatch(/^HTTP\/1\.1 200 /)
  expect(aws.taken.map(({ url }) => url)).toEqual(['/x'])
})

test('with a policy of the server, its rule and the ticket must permit both names of the key', async () => {
  const aws = await startStrictAws({ accessKeyId: 'sk-live-0123456789', secretAccessKey: 'other-value-123' }, answer)
  onTestFinished(() => aws.close())
  const route = `[[route]]\nprefix = "/aws"\nupstream = "http://127.0.0.1:${aws.port}"\n`
  const names = 'sigv4 = { access_key = "API_KEY", secret_key = "OTHER" }\n'
  const world = await startAgentWorld(`${route}${names}[control]\nlisten = "127.0.0.1:0"\n[activity]\n`)
  const ask = async (more: Record<string, string> = {}) => {
    const [name = '', value = ''] = authorization().split(': ')
    const answered = await fetch(`${world.reverse}/aws/v1/x`, { headers: { [name]: value, ...more } })
    return [answered.status, answered.headers.get('x-skerry-secret')]
  }
  expect(await ask()).toEqual([200, null])
  const made = await world.control('/session', { scopes: ['API_KEY'] })
  const { ticket } = (await made.json()) as { ticket: string }
  expect(await ask({ 'x-skerry-ticket': ticket })).toEqual([403, 'OTHER'])
  const rules = world.rules.map((rule) => ({ ...rule, allow: ['OTHER'] }))
  await world.shows({ policyVersion: 2, rules })
  await world.refresh()
  expect(await ask()).toEqual([403, 'API_KEY'])
  expect(aws.taken.length).toBe(1)
  const reported: unknown[] = []
  world.server.on('tasks.report', ({ body }) => {
    reported.push(body)
    return { text: '{}' }
  })
  await world.flush()
  expect(JSON.stringify(reported)).toContain(
    '"decision":"allow","ruleIndex":0,"count":1,"secrets":{"API_KEY":1,"OTHER":1}',
  )
})
