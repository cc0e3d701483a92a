import { signChunks } from './chunks.ts'
import { type Scope, SigningError, scopeOf } from './scope.ts'
import { type SigningKey, sha256, signerOf } from './signer.ts'

export type Body = Uint8Array | AsyncIterable<Uint8Array> | null

/** A request to send, without its signature. */
export interface SignedRequest {
  method: string
  /** The host as the Host header will name it. */
  host: string
  /** Path and query, as they are sent. */
  target: string
  /** The headers without Host, in the spelling and order in which they are sent. */
  headers: readonly (readonly [name: string, value: string])[]
  /** The whole body or a stream. Null if there is none. */
  body: Body
}

type Header = [name: string, value: string]

export interface Resigned {
  headers: Header[]
  /** The body has the same length as before. */
  body: Body
}

/**
 * Values that a request can send instead of the hash of its body -> whether the chunks of that body carry signatures.
 */
const payloads: Readonly<Record<string, 'as it is' | 'chunks' | 'chunks and trailer'>> = {
  'UNSIGNED-PAYLOAD': 'as it is',
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER': 'as it is',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD': 'chunks',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER': 'chunks and trailer',
}

const hashForm = /^[0-9a-f]{64}$/
const payloadHeader = 'x-amz-content-sha256'

/** Headers that belong to the agent's own key. The new signature brings its own. */
const replaced = new Set(['authorization', 'x-amz-date', 'date', 'x-amz-security-token', 'host'])

/**
 * Signs a request to AWS again with another key: for the same region and service, over the same headers, with the
 * current time. The old signature is not verified, because its key protects nothing.
 *
 * A streamed body is signed as it flows, if the request contains its hash, says that it is unsigned, or carries
 * signatures in its chunks.
 *
 * @throws SigningError `hash_missing` for a stream without any of these. Such a body must be read whole first.
 */
export async function resign(request: SignedRequest, key: SigningKey, now: Date): Promise<Resigned> {
  const { method, host, target, body } = request
  const header = (wanted: string) => request.headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
  const scope = scopeOf(header('authorization'), target)
  if (header('x-amz-s3session-token') !== undefined)
    throw new SigningError('unsupported', 'a request that was signed with a session key cannot be signed again')
  const payload = payloadOf(header(payloadHeader), body)
  const headers = request.headers
    .filter(([name]) => !replaced.has(name.toLowerCase()))
    .map(([name, value]): Header => [name, name.toLowerCase() === payloadHeader ? payload : value])
  const signer = signerOf(key, scope)
  const signed = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: host,
      ...pathOf(target),
      // The signer reads the hash of the body from this header, even if the request does not send it.
      headers: { ...signable(headers, scope), host, [payloadHeader]: payload },
    },
    {
      signingDate: now,
      unsignableHeaders: new Set(header(payloadHeader) === undefined ? [payloadHeader] : []),
    },
  )
  const made = ['x-amz-date', 'x-amz-security-token', 'authorization'].flatMap((name): Header[] => {
    const value = signed.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  const chunks = payloads[payload]
  if (body === null || chunks === undefined || chunks === 'as it is') return { headers: [...headers, ...made], body }
  const longDate = signed.headers['x-amz-date']!
  const chunkSigner = {
    longDate,
    scope: `${longDate.slice(0, 8)}/${scope.region}/${scope.service}/aws4_request`,
    seed: signed.headers.authorization!.slice(-64),
    sign: (text: string) => signer.sign(text, { signingDate: now }),
    hasTrailer: chunks === 'chunks and trailer',
  }
  return { headers: [...headers, ...made], body: signChunks(streamOf(body), chunkSigner) }
}

/** The value that is signed for the body: a keyword or a hash. The hash is computed if the whole body is here. */
function payloadOf(said: string | undefined, body: Body): string {
  if (said !== undefined && Object.hasOwn(payloads, said)) return said
  if (said !== undefined && !hashForm.test(said))
    throw new SigningError('unsupported', 'a body with this kind of signature cannot be signed again')
  if (body === null || body instanceof Uint8Array) return sha256(body ?? '')
  if (said === undefined) throw new SigningError('hash_missing', 'the request has no x-amz-content-sha256 header')
  return said
}

/**
 * The headers to sign: those that were signed before and still exist, and all that AWS requires. Values of one name are
 * joined.
 */
function signable(headers: Header[], { signedHeaders }: Scope): Record<string, string> {
  const all = new Map<string, string>()
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    const isSigned = signedHeaders.has(lower) || lower.startsWith('x-amz-')
    if (isSigned) all.set(lower, all.has(lower) ? `${all.get(lower)},${value}` : value)
  }
  return Object.fromEntries(all)
}

/** The signer expects names and values of a query decoded, and a list for a name that occurs several times. */
function pathOf(target: string): { path: string; query: Record<string, string | string[]> } {
  const [path = '', search] = target.split(/\?(.*)/s)
  const query = new Map<string, string[]>()
  for (const part of (search ?? '').split('&').filter(Boolean)) {
    const [name = '', value = ''] = part.split(/=(.*)/s)
    try {
      query.set(decodeURIComponent(name), [...(query.get(decodeURIComponent(name)) ?? []), decodeURIComponent(value)])
    } catch {
      throw new SigningError('malformed', 'the query is not percent-encoded correctly')
    }
  }
  return { path, query: Object.fromEntries(query) }
}

async function* streamOf(body: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}
