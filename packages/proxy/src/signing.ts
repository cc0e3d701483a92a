import type { IncomingMessage } from 'node:http'
import { hasBody, readBody } from './body.ts'
import type { SigningNames } from './config/config.ts'
import { framing, type Headers, pairs, valuesOf } from './headers.ts'
import type { Fillable, ValueOf } from './placeholders.ts'
import { badRequest, Refusal } from './refusal.ts'
import { type Body, resign } from './sigv4/resign.ts'
import { SigningError, scopeOf } from './sigv4/scope.ts'
import type { SigningKey } from './sigv4/signer.ts'

/** Builds a key from the named secrets, with their current values. */
export function keyOf({ accessKey, secretKey, sessionToken }: SigningNames, give: ValueOf): SigningKey {
  const inHeader = (name: string): string => {
    const value = give(name)
    if (/^[\x21-\x7e]+$/.test(value)) return value
    throw new Refusal(
      403,
      'bad_value',
      `the value of ${name} is not an AWS key: it contains a space or another character that no key has`,
      name,
    )
  }
  return {
    accessKeyId: inHeader(accessKey),
    secretAccessKey: give(secretKey),
    sessionToken: sessionToken === null ? undefined : inHeader(sessionToken),
  }
}

/** Refuses a request that can never be signed, before it is checked and counted. */
export function checkSigned(headers: Headers, target: string): void {
  try {
    // If a request has two such headers, the upstream might read the one that the proxy does not replace.
    if (valuesOf(headers, 'authorization').length > 1) throw badRequest('the request has two Authorization headers')
    scopeOf(valuesOf(headers, 'authorization')[0], target)
  } catch (error) {
    throw refusalFor(error)
  }
}

interface Signed {
  headers: Headers
  body: Body
}

/**
 * Signs a request with a key. Its body is streamed, and is read whole only if the request does not contain its hash.
 * The headers say how long the body is.
 */
export async function signed(
  request: IncomingMessage,
  { target, headers }: Fillable,
  key: SigningKey,
  { host, bytesMax }: { host: string; bytesMax: number },
): Promise<Signed> {
  const sign = (body: Body, length: Headers) =>
    resign({ method: request.method!, host, target, headers: [...headers, ...length], body }, key, new Date())
  const body = hasBody(request) ? request : null
  try {
    const found = await sign(body, framing(pairs(request.rawHeaders))).catch(async (error) => {
      if (!(error instanceof SigningError && error.reason === 'hash_missing')) throw error
      const whole = await readBody(request, bytesMax, 413)
      return sign(whole, [['Content-Length', String(whole.length)]])
    })
    return { ...found, body: isStream(found.body) ? refusing(found.body) : found.body }
  } catch (error) {
    throw refusalFor(error)
  }
}

export const isStream = (body: Body): body is AsyncIterable<Uint8Array> =>
  body !== null && !(body instanceof Uint8Array)

/** An error in the middle of a body ends the request that has already begun. */
async function* refusing(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw refusalFor(error)
  }
}

const refusalFor = (error: unknown): unknown =>
  error instanceof SigningError
    ? badRequest(`${error.message}; the proxy signs requests to this host, so they must be signed already`)
    : error
