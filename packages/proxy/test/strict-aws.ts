import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

// A fake of AWS that verifies signatures. It is written from AWS's own description, without any code of the signer
// under test.

export interface Key {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export interface Taken {
  method: string
  url: string
  headers: IncomingMessage['headers']
  /** The body without the framing of chunks. */
  body: Buffer
}

export interface StrictAws {
  port: number
  taken: Taken[]
  close: () => Promise<void>
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const authorizationForm =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/((\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/

/** Answers requests that are signed with the key, and refuses all others. */
export async function startStrictAws(
  key: Key,
  answer: (taken: Taken) => string,
  tls?: ServerOptions,
): Promise<StrictAws> {
  const taken: Taken[] = []
  const listener: RequestListener = async (request, response) => {
    const raw = await buffer(request)
    try {
      const one = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: verified(request, raw, key),
      }
      taken.push(one)
      response.writeHead(200, { 'content-type': 'application/xml' }).end(answer(one))
    } catch (error) {
      const message = `<Error><Code>SignatureDoesNotMatch</Code><Message>${(error as Error).message}</Message></Error>`
      response.writeHead(403, { 'content-type': 'application/xml' }).end(message)
    }
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    close: () => new Promise((done) => server.close(() => done()).closeAllConnections()),
  }
}

function check(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new Error(what)
}

/** Returns the body after all signatures over it were verified. */
function verified(request: IncomingMessage, raw: Buffer, key: Key): Buffer {
  const { headers, method, url = '' } = request
  const found = authorizationForm.exec(headers.authorization ?? '')
  check(found !== null, 'no signature')
  const [, id, scope = '', day = '', region = '', service = '', names = '', signature = ''] = found
  const date = String(headers['x-amz-date'])
  check(id === key.accessKeyId && date.startsWith(day), 'another key or day')
  check(Math.abs(Date.now() - Date.parse(date.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))) < 300_000, 'too old')
  check(headers['x-amz-security-token'] === key.sessionToken, 'another session')
  const signed = names.split(';')
  for (const name of Object.keys(headers))
    check(!(name === 'host' || name.startsWith('x-amz-')) || signed.includes(name), `${name} is not signed`)
  const said = headers['x-amz-content-sha256'] as string | undefined
  check(service !== 's3' || said !== undefined, 'S3 wants to be told the hash')
  const [path = '', search = ''] = url.split('?')
  const query = search
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
  const canonical = [
    method,
    service === 's3' ? path : path.split('/').map(encodeURIComponent).join('/'),
    query.sort().join('&'),
    signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`).join(''),
    names,
    said ?? sha256(raw),
  ].join('\n')
  const signingKey = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secretAccessKey}`, day))
  const sign = (...lines: string[]) => hmac(signingKey, lines.join('\n')).toString('hex')
  check(sign('AWS4-HMAC-SHA256', date, scope, sha256(canonical)) === signature, 'the signature is wrong')
  if (said?.startsWith('STREAMING-') === true)
    return chunked(raw, said, signature, (kind, ...rest) => sign(kind, date, scope, ...rest))
  check(said === undefined || said === 'UNSIGNED-PAYLOAD' || said === sha256(raw), 'the body has another hash')
  return raw
}

function chunked(raw: Buffer, said: string, seed: string, sign: (...lines: string[]) => string): Buffer {
  const isSigned = said.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD')
  const parts: Buffer[] = []
  let before = seed
  let at = 0
  const line = () => {
    const end = raw.indexOf('\r\n', at)
    check(end !== -1, 'no line')
    const text = raw.toString('latin1', at, end)
    at = end + 2
    return text
  }
  for (;;) {
    const [size = '', extension = ''] = line().split(';')
    const data = raw.subarray(at, at + Number.parseInt(size, 16))
    if (isSigned) {
      before = sign('AWS4-HMAC-SHA256-PAYLOAD', before, sha256(''), sha256(data))
      check(extension === `chunk-signature=${before}`, `the signature of chunk ${parts.length} is wrong`)
    }
    if (data.length === 0) break
    parts.push(data)
    at += data.length
    check(line() === '', 'a chunk is too long')
  }
  if (said.endsWith('-TRAILER')) {
    const trailer = line()
    check(/^x-amz-checksum-/.test(trailer), 'no trailer')
    if (isSigned)
      check(
        line() === `x-amz-trailer-signature:${sign('AWS4-HMAC-SHA256-TRAILER', before, sha256(`${trailer}\n`))}`,
        'the signature of the trailer is wrong',
      )
  }
  check(line() === '' && at === raw.length, 'something follows')
  return Buffer.concat(parts)
}
