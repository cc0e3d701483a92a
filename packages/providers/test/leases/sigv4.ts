import { createHash, createHmac } from 'node:crypto'
import type { FakeRequest } from '../http-fake.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Whether a request has a valid AWS Signature Version 4 of this key. */
export function isSigned(request: FakeRequest, key: { id: string; secret: string; region: string; service: string }) {
  const { id, secret, region, service } = key
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, credential = '', signedHeaders = '', signature] = form.exec(request.headers.authorization ?? '') ?? []
  const time = String(request.headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  if (credential !== `${id}/${scope}` || !signedHeaders.split(';').includes('host')) return false
  const headers = signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [
    request.method,
    request.path,
    [...request.query].map((pair) => pair.map(encodeURIComponent).join('=')).join('&'),
    headers.join(''),
    signedHeaders,
    sha256(request.body),
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signingKey = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, time.slice(0, 8)))
  return hmac(signingKey, toSign).toString('hex') === signature
}
