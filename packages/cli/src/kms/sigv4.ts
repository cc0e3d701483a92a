import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { AwsError } from './aws-error.ts'

// Verifies AWS Signature Version 4: it computes the signature of the received request again and compares the two.

export interface AccessKey {
  accessKeyId: string
  secretAccessKey: string
}

interface SignedRequest {
  method: string
  /** The URL as it was sent, with its query. */
  url: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** The clock difference that AWS accepts. */
const skewMs = 5 * 60_000

const algorithm = 'AWS4-HMAC-SHA256'
const form =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([a-z0-9-]+)\/kms\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

const wrongKey = 'sign the request with the gateway’s own access key'
const refused = (name: string, message = wrongKey) => new AwsError(name, message, 403)

/**
 * Checks that the access key signed the whole request a short time ago. Returns null, or the error that AWS would
 * answer.
 */
export function signatureProblem(request: SignedRequest, key: AccessKey, now: Date): AwsError | null {
  const authorization = one(request, 'authorization')
  if (authorization === undefined) return refused('MissingAuthenticationTokenException')
  const [, keyId, day = '', region = '', signedHeaders = '', signature = ''] = form.exec(authorization) ?? []
  if (keyId === undefined) return refused('IncompleteSignatureException')
  if (keyId !== key.accessKeyId) return refused('UnrecognizedClientException')
  const names = signedHeaders.split(';')
  const at = one(request, 'x-amz-date') ?? ''
  const sentMs = parseDate(at)
  if (!at.startsWith(day) || Number.isNaN(sentMs) || !isSound(request, names))
    return refused('IncompleteSignatureException')
  if (!(Math.abs(now.getTime() - sentMs) <= skewMs)) return skewed(at, sentMs, now)
  const scope = `${day}/${region}/kms/aws4_request`
  const text = [algorithm, at, scope, sha256(canonicalOf(request, names))].join('\n')
  const signing = ['kms', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${key.secretAccessKey}`, day), region))
  const expected = hmac(signing, text)
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : refused('InvalidSignatureException')
}

/** Uses the words of AWS. Its SDKs recognise by them that the clock of their machine is wrong, and correct for it. */
function skewed(at: string, sentMs: number, now: Date): AwsError {
  const limit = formatDate(new Date(now.getTime() + (sentMs < now.getTime() ? -skewMs : skewMs)))
  const clock = formatDate(now)
  const message =
    sentMs > now.getTime()
      ? `Signature not yet current: ${at} is still later than ${limit} (${clock} + 5 min.)`
      : `Signature expired: ${at} is now earlier than ${limit} (${clock} - 5 min.)`
  return refused('InvalidSignatureException', message)
}

const formatDate = (date: Date) => date.toISOString().replace(/[-:]|\.\d{3}/g, '')

/** Whether all headers that direct the request are signed: host, target, date. */
function isSound({ headers }: SignedRequest, names: string[]): boolean {
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  return needed.every((name) => names.includes(name))
}

function canonicalOf(request: SignedRequest, names: string[]): string {
  const { pathname, searchParams } = new URL(request.url, 'http://gateway')
  const query = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const headers = names.map((name) => `${name}:${(one(request, name) ?? '').trim().replace(/ +/g, ' ')}\n`)
  return [request.method, pathname, query.join('&'), headers.join(''), names.join(';'), sha256(request.body)].join('\n')
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

function one({ headers }: SignedRequest, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** Parses `20261004T120000Z`. Returns NaN for anything else. */
function parseDate(text: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
