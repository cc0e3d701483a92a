import { type ErrorCode, errorStatus } from '@skerry/contract/errors'

/** The codes of errors that the SDK finds itself, each with its message. The codes of the API are not in this list. */
export const clientErrors = {
  unavailable: 'the server cannot be reached',
  untrusted_certificate: 'the server’s certificate is not trusted',
  request_too_large: 'the request is too large for a proxy in front of the server',
  old_server: 'this server is older than this client, and cannot do this',
  timeout: 'the server did not answer in time',
  offline: 'there is no cached copy that can be used',
  malformed_answer: 'the server’s answer is not valid',
  decryption_failed: 'a secret cannot be decrypted',
  own_key_replaced: 'the server shows a public key for you that is not yours',
  malformed_archive: 'the file is not an audit log archive',
  changed_archive: 'the archive was changed after the server wrote it',
} as const

/** The code of an error that the SDK finds itself. */
export type ClientErrorCode = keyof typeof clientErrors

/** The details of an error, in addition to its code and message. */
export interface ErrorContext {
  /** The HTTP status. Null or missing if there was no response. */
  status?: number | null
  /** The id of the request. Null or missing if the server sent none. */
  requestId?: string | null
}

/**
 * A server's message reaches terminals and logs. So control characters (escape sequences) are removed, and the length
 * is limited.
 */
const messageCharacters = 500
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/**
 * The base class of all errors of the SDK, except CryptoError, the error of `@skerry/crypto`. In your program, compare
 * `code` or the class, and not the message. An error never contains a credential, a body or the value of a secret.
 *
 * - `code`: a code of the API (`not_found`, `forbidden`, ...) or of the SDK ({@link ClientErrorCode}).
 * - `status`: the HTTP status. Null if there was no response.
 * - `requestId`: the id of the request, with which the operator can search the log of the server. Null if the server
 *   sent none.
 *
 * @example
 * try { await client.apps.get({ params: { orgId, appId } }) }
 * catch (error) { if (error instanceof SkerryError && error.code === 'not_found') return undefined; throw error }
 */
export class SkerryError extends Error {
  override readonly name: string = 'SkerryError'
  readonly code: string
  readonly status: number | null
  readonly requestId: string | null

  constructor(code: string, message: string, context: ErrorContext = {}) {
    super(message.replace(unprintable, ' ').slice(0, messageCharacters))
    this.code = code
    this.status = context.status ?? null
    this.requestId = context.requestId ?? null
  }
}

/**
 * The server did not decide about the request. You may use a copy of an earlier response. Possible causes:
 *
 * - a network failure or a timeout,
 * - the HTTP status 5xx, or 429 on the last attempt,
 * - a redirect,
 * - an error that is not in the format of the API. For example, a proxy that cannot reach the server may answer 403.
 */
export class UnavailableError extends SkerryError {
  override readonly name: string = 'UnavailableError'
}

/**
 * The server refused the request, with an error in the format of the API. Do not use a copy of an earlier response.
 * `resolve` deletes its copies in `cache` and `reuse` before it throws this error.
 */
export class RefusedError extends SkerryError {
  override readonly name: string = 'RefusedError'
}

/**
 * An environment or a secret cannot be decrypted. The key is missing or wrong, somebody changed the ciphertext, or the
 * ciphertext belongs to another secret or environment. The code is `decryption_failed`.
 *
 * - `layer`: the slug or the id of the environment.
 * - `secret`: the name of the secret. Undefined if the key of the environment itself cannot be unwrapped.
 */
export class DecryptionError extends SkerryError {
  override readonly name: string = 'DecryptionError'
  readonly layer: string
  readonly secret: string | undefined

  /** @param reason completes the message after “because”. */
  constructor(layer: string, secret: string | undefined, reason?: string) {
    const what =
      secret === undefined ? 'the environment’s key is not encrypted for this private key' : `secret ${secret}`
    super(
      'decryption_failed',
      `${layer} cannot be decrypted: ${what}${reason === undefined ? '' : `, because ${reason}`}`,
    )
    this.layer = layer
    this.secret = secret
  }
}

/**
 * Makes an error with a code of the SDK. The message is the message of this code in `clientErrors`, followed by
 * `detail`. The detail must not contain a secret.
 *
 * @example throw clientError('offline')
 */
export function clientError(code: UnavailableCode, detail?: string, context?: ErrorContext): UnavailableError
export function clientError(code: ClientErrorCode, detail?: string, context?: ErrorContext): SkerryError
export function clientError(code: ClientErrorCode, detail?: string, context?: ErrorContext): SkerryError {
  const message = detail === undefined ? clientErrors[code] : `${clientErrors[code]}: ${detail}`
  return isUnavailable(code) ? new UnavailableError(code, message, context) : new SkerryError(code, message, context)
}

/** The codes of an {@link UnavailableError} that the SDK makes itself. */
type UnavailableCode = 'unavailable' | 'untrusted_certificate' | 'timeout' | 'offline'
const isUnavailable = (code: string) => /^(unavailable|untrusted_certificate|timeout|offline)$/.test(code)

/**
 * Makes the error `invalid_request` for a wrong setting or argument, before a request is sent.
 *
 * @example throw invalid('baseUrl: https:// expected')
 */
export function invalid(message: string): SkerryError {
  return new SkerryError('invalid_request' satisfies ErrorCode, message)
}

/**
 * Makes an error from the status and the body of a response. A body that is not in the error format of the API comes
 * from a proxy in front of the server. The error then has the code `unavailable`, or `request_too_large` for the status
 * 413. The message of the error contains the status.
 *
 * @param secrets texts that the server may have repeated, such as the credential. The function removes them from the
 *   message.
 * @example throw errorOf(403, '{"error":{"code":"forbidden","message":"..."}}', { requestId: 'req_...' })
 */
export function errorOf(status: number, body: string, context: ErrorContext, secrets: readonly string[] = []) {
  const known = parseErrorBody(body)
  if (!known) return proxyError(status, { ...context, status })
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), known.message)
  const unavailable = status >= 500 || status === errorStatus.rate_limited
  const Failure = unavailable ? UnavailableError : RefusedError
  return new Failure(known.code, message, { ...context, status })
}

/** Explains the status of a proxy. The body is left out, because it is a page for a browser. */
const proxyReasons: Readonly<Record<number, string>> = {
  502: 'the server is not running or does not answer',
  503: 'the server is not ready',
  504: 'the server took too long',
}

function proxyError(status: number, context: ErrorContext): SkerryError {
  const raise = 'HTTP 413; raise the proxy’s limit for request bodies, for example `client_max_body_size 64m` in nginx'
  if (status === 413) return clientError('request_too_large', raise, context)
  const reason = proxyReasons[status]
  const answer = `a proxy in front of it answered HTTP ${status}`
  return clientError('unavailable', reason === undefined ? answer : `${answer}, because ${reason}`, context)
}

function parseErrorBody(body: string): { code: string; message: string } | undefined {
  try {
    const { error, error_description } = JSON.parse(body)
    // The token endpoint uses the error format of RFC 6749.
    const { code, message } = typeof error === 'string' ? { code: error, message: error_description } : error
    if (typeof code !== 'string' || typeof message !== 'string') return undefined
    if (/^[a-z][a-z0-9_]{0,63}$/.test(code)) return { code, message }
  } catch {
    // Not JSON, or no `error` in it: a proxy in front answered, not the API.
  }
}

/**
 * Returns true if the server refused a grant because the principal already has the key. For any other `conflict`, it
 * returns false, because the principal did not get the key. For example, somebody has just replaced the key, or your
 * own access to the environment ends earlier than the grant would.
 *
 * @example
 * try { await grantEnvironment(client, { orgId, envId, principalType: 'user', principalId, publicKeyJwk }, key.bytes) }
 * catch (error) { if (!isAlreadyGranted(error)) throw error }
 */
export const isAlreadyGranted = (error: unknown): boolean =>
  error instanceof RefusedError && error.code === 'conflict' && error.message.includes('already has a key grant')
