import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { resign, type SignedRequest } from './resign.ts'

// The examples of AWS's own documentation: "Signature Calculations for the Authorization Header: Transferring Payload
// in Multiple Chunks". A request with stand-in credentials must get the signatures that are printed there.

const key = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const now = new Date('2013-05-24T00:00:00Z')
const none = '0'.repeat(64)
const authorization = (names: string, service = 's3') =>
  `AWS4-HMAC-SHA256 Credential=STANDIN/20200101/us-east-1/${service}/aws4_request, SignedHeaders=${names}, Signature=${none}`

const chunk = (data: string) => `${data.length.toString(16)};chunk-signature=${none}\r\n${data}\r\n`
const chunks = `${chunk('a'.repeat(65_536))}${chunk('a'.repeat(1024))}${chunk('')}`

const put = (more: Partial<SignedRequest> = {}): SignedRequest => ({
  method: 'PUT',
  host: 's3.amazonaws.com',
  target: '/examplebucket/chunkObject.txt',
  headers: [
    [
      'Authorization',
      authorization(
        'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
      ),
    ],
    ['x-amz-date', '20200101T000000Z'],
    ['x-amz-security-token', 'of the stand-in'],
    ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
    ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
    ['Content-Encoding', 'aws-chunked'],
    ['x-amz-decoded-content-length', '66560'],
    ['Content-Length', '66824'],
  ],
  body: Buffer.from(chunks),
  ...more,
})
const headerOf = (headers: readonly (readonly [string, string])[], name: string) =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1]
const with_ = (name: string, value: string | null) => [
  ...put().headers.filter(([one]) => one.toLowerCase() !== name),
  ...(value === null ? [] : [[name, value] as const]),
]
const bodyOf = async ({ body }: { body: SignedRequest['body'] }) =>
  text(Readable.from(body as AsyncIterable<Uint8Array>))

describe('a body in signed chunks', () => {
  it.each([1_000_000, 1000, 7])(
    'gets the signatures that AWS has published, in pieces of %i bytes',
    async (pieceBytes) => {
      const pieces = Array.from({ length: Math.ceil(chunks.length / pieceBytes) }, (_, at) =>
        Buffer.from(chunks.slice(at * pieceBytes, (at + 1) * pieceBytes)),
      )
      const resigned = await resign(put({ body: Readable.from(pieces) }), key, now)
      expect(headerOf(resigned.headers, 'authorization')).toBe(
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class, Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
      )
      expect(headerOf(resigned.headers, 'x-amz-date')).toBe('20130524T000000Z')
      expect(headerOf(resigned.headers, 'x-amz-security-token')).toBeUndefined()
      const body = await bodyOf(resigned)
      expect(body.length).toBe(66_824)
      expect(body.match(/(?<=chunk-signature=)[0-9a-f]+/g)).toEqual([
        'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
        '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
        'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
      ])
    },
  )

  it.each([
    ['that is cut off', chunks.slice(0, -100), 'ended too early'],
    ['without its end', chunks.slice(0, -2), 'ended too early'],
    ['with bytes after its end', `${chunks}more`, 'there are bytes after the end of the body'],
    ['whose chunk is longer than it says', chunks.replace('400;', '3ff;'), 'a chunk is longer than its stated size'],
    ['whose chunk is not signed', chunks.replace(/400;[^\r]*/, '400'), 'no signature'],
    ['whose chunk is too large', chunks.replace('10000;', 'fffffff;'), 'larger than'],
    [
      'with a trailer that was not announced',
      `${chunks.slice(0, -2)}x-amz-checksum-crc32:a\r\nx-amz-trailer-signature:${none}\r\n\r\n`,
      'the trailers after the last chunk are not the announced ones',
    ],
    ['with a line that never ends', 'a'.repeat(100_000), 'too long'],
  ])('%s is refused', async (_, body, why) => {
    const resigned = await resign(put({ body: Readable.from([Buffer.from(body)]) }), key, now)
    await expect(bodyOf(resigned)).rejects.toMatchObject({ reason: 'malformed', message: expect.stringContaining(why) })
  })
})

describe('signing again refuses a request', () => {
  it.each([
    ['without a signature', { headers: with_('authorization', null) }, 'not_signed'],
    ['with a bearer token', { headers: with_('authorization', 'Bearer abc') }, 'not_signed'],
    ['with a signature of version 2', { headers: with_('authorization', 'AWS AKID:abc=') }, 'not_signed'],
    [
      'with a signature for several regions',
      { headers: with_('authorization', authorization('host').replace('HMAC', 'ECDSA-P256')) },
      'unsupported',
    ],
    [
      'a request that was signed with a session key cannot be signed again',
      { headers: with_('authorization', authorization('host', 's3express')) },
      'unsupported',
    ],
    ['with the token of a session', { headers: with_('x-amz-s3session-token', 'abc') }, 'unsupported'],
    [
      'with a signature in its address',
      { target: '/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0' },
      'unsupported',
    ],
    [
      'as an event stream',
      { headers: with_('x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-EVENTS') },
      'unsupported',
    ],
    [
      'with a signature by elliptic curves',
      { headers: with_('x-amz-content-sha256', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD') },
      'unsupported',
    ],
    [
      'with a stream and without its hash',
      { headers: with_('x-amz-content-sha256', null), body: Readable.from([]) },
      'hash_missing',
    ],
    ['with a query that cannot be read', { target: '/a?b=%zz' }, 'malformed'],
  ])('%s', async (_, more, reason) => {
    await expect(resign(put(more), key, now)).rejects.toMatchObject({ reason })
  })
})
