import { ConfigError } from '@skerry/proxy/config/read'
import { Refusal as UpstreamRefusal } from '@skerry/proxy/refusal'
import { RefusedError, SkerryError, UnavailableError } from '@skerry/sdk/errors'

/** Every refusal of an executor, with its HTTP status. */
const statuses = {
  invalid_request: 400,
  unauthorized: 401,
  not_allowed: 403,
  user_mismatch: 403,
  not_found: 404,
  conflict: 409,
  connection_revoked: 409,
  reauth_required: 409,
  body_too_large: 413,
  limit_reached: 429,
  provider_failed: 502,
  unavailable: 503,
  internal: 500,
} as const

export type RefusalCode = keyof typeof statuses

/** The refusal that a caller gets. The message contains no credential. */
export class VaultRefusal extends Error {
  override readonly name = 'VaultRefusal'
  readonly code: RefusalCode
  readonly status: number

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
    this.status = statuses[code]
  }

  /** Sends both names of the header, because a client reads only its own. */
  get headers(): Record<string, string> {
    return { 'x-skerry-vault-error': this.code, 'x-seekrit-vault-error': this.code }
  }
}

/** Whether a header marks a refusal of the executor. No answer of a provider may carry it. */
export const isOurs = (name: string): boolean => /^x-(?:skerry|seekrit)-vault-error$/i.test(name)

/** Every refusal is created here. */
export const fail = (code: RefusalCode, message: string) => new VaultRefusal(code, message)

/** The error code of the server -> the code of the executor. */
const codeOf: Readonly<Record<string, RefusalCode>> = {
  invalid_request: 'invalid_request',
  not_found: 'not_found',
  conflict: 'conflict',
  forbidden: 'not_allowed',
}

/** Whether the server no longer accepts the executor's credential. */
export const isDisabled = (error: unknown): boolean => error instanceof RefusedError && error.code === 'unauthorized'

/** The message for the log, for callers, and for the person who starts the executor. */
export const disabled =
  'this executor is disabled, because an admin disabled it or registered another one. Register it again with a new code'

/** Anything thrown -> a refusal. The text of an unexpected error is not shown. */
export function refusalOf(error: unknown): VaultRefusal {
  if (error instanceof VaultRefusal) return error
  if (error instanceof ConfigError) return fail('invalid_request', error.message)
  if (error instanceof UpstreamRefusal) {
    if (error.status === 413) return fail('body_too_large', error.message)
    return fail(
      error.status === 502 ? 'provider_failed' : error.status === 400 ? 'invalid_request' : 'not_allowed',
      error.message,
    )
  }
  if (isDisabled(error)) return fail('unavailable', disabled)
  if (error instanceof UnavailableError) return fail('unavailable', `the Skerry server: ${error.message}`)
  if (error instanceof RefusedError && Object.hasOwn(codeOf, error.code))
    return fail(codeOf[error.code]!, error.message)
  if (error instanceof SkerryError)
    return fail('unavailable', `the Skerry server refused this executor: ${error.message}`)
  return fail('internal', 'the executor failed; its output has the cause')
}
