import { type Static, Type } from 'typebox'
import type { ErrorCode } from '../errors.ts'
import { Strict } from '../schema.ts'

/** RFC 6749 section 5.2: OAuth libraries read these two members, and know nothing of `ErrorBody`. */
export const OAuthErrorBody = Strict({
  error: Type.String({
    description: 'Code for programs, such as `invalid_client`. It does not change between releases',
  }),
  error_description: Type.String({ description: 'Text for people' }),
})

export type OAuthErrorBody = Static<typeof OAuthErrorBody>

/** Error codes of the API, as the codes of RFC 6749 sections 5.2 and 4.1.2.1. */
const oauthCodes: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'invalid_request',
  unauthorized: 'invalid_client',
  rate_limited: 'temporarily_unavailable',
  internal: 'server_error',
}

/** The only refusal whose OAuth code depends on its message, and not on the code of the API. */
export const unsupportedGrant = 'body.grant_type: only client_credentials is supported'

/** RFC 6749 section 5.2 allows printable ASCII without quotes and backslashes in a description. */
const undescribable = /[^\u0020-\u0021\u0023-\u005b\u005d-\u007e]/g

/**
 * Builds a refusal of the token endpoint, as OAuth libraries read it.
 *
 * @example oauthErrorOf('unauthorized', 'unknown client credentials').error // 'invalid_client'
 */
export function oauthErrorOf(code: ErrorCode, message: string): OAuthErrorBody {
  const error = message === unsupportedGrant ? 'unsupported_grant_type' : (oauthCodes[code] ?? 'invalid_request')
  return { error, error_description: message.replace(/"/g, "'").replace(undescribable, '?') }
}
