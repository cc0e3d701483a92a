import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { resign } from '../src/sigv4/resign.ts'
import { type Key, type StrictAws, startStrictAws, type Taken } from './strict-aws.ts'

// Unmodified clients of AWS with stand-in credentials. The server between them and AWS signs their requests again.

const real: Key = { accessKeyId: 'AKIDREAL', secretAccessKey: 'the real secret', sessionToken: 'the real session' }
const standIn = { accessKeyId: 'AKIDSTANDIN', secretAccessKey: 'nothing', sessionToken: 'nothing' }

let aws: StrictAws
let between: { url: string; close: () => Promise<void> }
beforeAll(async () => {
  aws = await startStrictAws(real, answer)
  between = await startBetween()
})
afterAll(async () => {
  await between.close()
  await aws.close()
})
beforeEach(() => aws.taken.splice(0))

function answer({ url }: Taken): string {
  if (url.includes('list-type=2')) return '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>'
  if (url === '/') {
    const identity = '<Arn>arn:aws:iam::1:user/real</Arn><UserId>AIDREAL</UserId><Account>1</Account>'
    return `<GetCallerIdentityResponse><GetCallerIdentityResult>${identity}</GetCallerIdentityResult></GetCallerIdentityResponse>`
  }
  return 'the object'
}

/**
 * Does what a proxy does with a request to sign again. A body is read whole only if its sender signed nothing about it.
 */
async function startBetween() {
  const server = createServer(async (request, response) => {
    const headers = Array.from({ length: request.rawHeaders.length / 2 }, (_, at): [string, string] => [
      request.rawHeaders[at * 2]!,
      request.rawHeaders[at * 2 + 1]!,
    ]).filter(([name]) => !['host', 'connection', 'expect', 'transfer-encoding'].includes(name.toLowerCase()))
    const host = `127.0.0.1:${aws.port}`
    const isSaid = request.headers['x-amz-content-sha256'] !== undefined
    const body = isSaid ? request : Buffer.concat(await request.toArray())
    const signed = await resign(
      { method: request.method!, host, target: request.url!, headers, body },
      real,
      new Date(),
    )
    const all = [['host', host] as [string, string], ...signed.headers].flat()
    const sent = send({ port: aws.port, method: request.method, path: request.url, headers: all })
    sent.on('response', (answered) => {
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    await pipeline(signed.body instanceof Uint8Array ? [signed.body] : (signed.body ?? []), sent)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((done) => server.close(() => done()).closeAllConnections()),
  }
}

const settings = () => ({ endpoint: between.url, region: 'eu-central-1', credentials: standIn, maxAttempts: 1 })
const s3 = () => new S3Client({ ...settings(), forcePathStyle: true })

describe('an AWS SDK with stand-in credentials', () => {
  it('writes an object, from memory and as a stream', async () => {
    const bytes = randomBytes(300_000)
    await s3().send(
      new PutObjectCommand({ Bucket: 'b', Key: 'a b/ü+%.txt', Body: bytes, Metadata: { note: 'two  words' } }),
    )
    const stream = Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)])
    await s3().send(new PutObjectCommand({ Bucket: 'b', Key: 'streamed', Body: stream, ContentLength: bytes.length }))
    expect(aws.taken.map(({ method, url, body }) => [method, url, body.equals(bytes)])).toEqual([
      ['PUT', '/b/a%20b/%C3%BC%2B%25.txt?x-id=PutObject', true],
      ['PUT', '/b/streamed?x-id=PutObject', true],
    ])
    expect(aws.taken[1]!.headers['x-amz-content-sha256']).toMatch(/^STREAMING-|^UNSIGNED/)
  })

  it('reads an object, lists objects, and gets its identity', async () => {
    const { Body } = await s3().send(new GetObjectCommand({ Bucket: 'b', Key: 'k' }))
    expect(await Body!.transformToString()).toBe('the object')
    const listed = await s3().send(new ListObjectsV2Command({ Bucket: 'b', Prefix: 'a/b c&d=e+f', MaxKeys: 3 }))
    expect(listed.KeyCount).toBe(0)
    const { Arn } = await new STSClient(settings()).send(new GetCallerIdentityCommand({}))
    expect(Arn).toBe('arn:aws:iam::1:user/real')
  })

  it('is refused by AWS itself if nothing signs its requests again', async () => {
    const direct = new S3Client({ ...settings(), endpoint: `http://127.0.0.1:${aws.port}`, forcePathStyle: true })
    await expect(direct.send(new GetObjectCommand({ Bucket: 'b', Key: 'k' }))).rejects.toMatchObject({
      name: 'SignatureDoesNotMatch',
    })
  })
})

describe('other clients', () => {
  const sign = (names: string) =>
    `AWS4-HMAC-SHA256 Credential=AKIDSTANDIN/20200101/us-east-1/s3/aws4_request, SignedHeaders=${names}, Signature=${'0'.repeat(64)}`
  const put = (payload: string, body: string) =>
    fetch(`${between.url}/b/chunked`, {
      method: 'PUT',
      headers: { authorization: sign('host;x-amz-content-sha256;x-amz-date'), 'x-amz-content-sha256': payload },
      body,
    })
  const none = '0'.repeat(64)
  const chunk = (data: string) => `${data.length.toString(16)};chunk-signature=${none}\r\n${data}`

  it('can send signed chunks, with and without a trailer', async () => {
    const chunks = `${chunk('first')}\r\n${chunk('second')}\r\n${chunk('')}`
    const trailer = `x-amz-checksum-crc32:AAAAAA==\r\nx-amz-trailer-signature:${none}\r\n`
    expect((await put('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', `${chunks}\r\n`)).status).toBe(200)
    expect((await put('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', `${chunks}${trailer}\r\n`)).status).toBe(200)
    expect(aws.taken.map(({ body }) => body.toString())).toEqual(['firstsecond', 'firstsecond'])
  })

  it('can send no hash, and sign a path that is encoded once more', async () => {
    const answered = await fetch(`${between.url}/2015-03-31/functions/a%3Ab?Qualifier=%24LATEST&Empty`, {
      method: 'POST',
      headers: { authorization: sign('host;x-amz-date').replace('/s3/', '/lambda/') },
      body: 'whole',
    })
    expect([answered.status, await answered.text()]).toEqual([200, 'the object'])
  })
})

it('the strict fake itself refuses a signature over other bytes', async () => {
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const hmac = (by: string | Buffer, text: string) => createHmac('sha256', by).update(text).digest()
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const scope = `${date.slice(0, 8)}/eu-central-1/sts/aws4_request`
  const lines = (body: string) =>
    [
      'POST',
      '/',
      '',
      `host:127.0.0.1:${aws.port}\nx-amz-date:${date}\nx-amz-security-token:${real.sessionToken}\n`,
      'host;x-amz-date;x-amz-security-token',
      hash(body),
    ].join('\n')
  const signing = [date.slice(0, 8), 'eu-central-1', 'sts', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${real.secretAccessKey}`,
  )
  const signature = hmac(signing, ['AWS4-HMAC-SHA256', date, scope, hash(lines('signed'))].join('\n')).toString('hex')
  const statusOf = async (body: string) => {
    const authorization = `AWS4-HMAC-SHA256 Credential=${real.accessKeyId}/${scope}, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=${signature}`
    const headers = { authorization, 'x-amz-date': date, 'x-amz-security-token': real.sessionToken! }
    return (await fetch(`http://127.0.0.1:${aws.port}/`, { method: 'POST', headers, body })).status
  }
  expect([await statusOf('signed'), await statusOf('another')]).toEqual([200, 403])
})
