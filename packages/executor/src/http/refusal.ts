import { ConfigError } from '@skerry/proxy/config/read'
import { Refusal as UpstreamRefusal } from '@skerry/proxy/refusal'
import { RefusedError, SkerryError, UnavailableError } from '@skerry/sdk/errors'

/** Every refusal of an executor, and the HTTP status that goes with it. */
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

/** What a caller is told. The message holds no credential. */
export class VaultRefusal extends Error {
  override readonly name = 'VaultRefusal'
  readonly code: RefusalCode
  readonly status: number

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
    this.status = statuses[code]
  }

  /** Both spellings: clients of either read their own. */
  get headers(): Record<string, string> {
    return { 'x-skerry-vault-error': this.code, 'x-seekrit-vault-error': this.code }
  }
}

/** Whether a header is the mark of a refusal, which no answer of a provider may bear. */
export const isOurs = (name: string): boolean => /^x-(?:skerry|seekrit)-vault-error$/i.test(name)

/** The one way to refuse. */
export const fail = (code: RefusalCode, message: string) => new VaultRefusal(code, message)

/** What the server calls a refusal -> what the executor does. */
const codeOf: Readonly<Record<string, RefusalCode>> = {
  invalid_request: 'invalid_request',
  not_found: 'not_found',
  conflict: 'conflict',
  forbidden: 'not_allowed',
}

/** The server knows the credential no longer. */
export const isDisabled = (error: unknown): boolean => error instanceof RefusedError && error.code === 'unauthorized'

/** For the log, for callers, and for the person who starts it. */
export const disabled =
  'this executor is disabled: an admin ended it, or it was registered again. Register it with a new code'

/** Anything thrown -> a refusal. What nobody has foreseen is told without its words. */
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
    return fail('unavailable', `the Skerry server refuses this executor: ${error.message}`)
  return fail('internal', 'something went wrong in the executor')
}
