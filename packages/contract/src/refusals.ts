import type { Endpoint } from './endpoint.ts'
import { type ErrorCode, errorStatus } from './errors.ts'

/** The meaning of each error code, for documents. */
export const errorMeanings: Record<ErrorCode, string> = {
  invalid_request: 'The request has a wrong form. The message names the wrong field',
  unauthorized: 'The request has no credential, or the credential is not valid',
  forbidden: 'The credential is valid, but does not have this permission',
  mfa_required: 'The sign-in has no second factor yet, or the second factor was entered too long ago',
  quota_exceeded: 'The plan of the organization, or a limit of the server, is used up',
  not_found: 'The thing does not exist, or the caller is not allowed to know that it exists',
  conflict:
    'The current state does not allow the change, for example because the name exists or the version has changed',
  rate_limited: 'The caller sent too many requests. `Retry-After` has the number of seconds to wait',
  internal: 'The server failed. The log of the server has the cause with the request’s id',
  unavailable: 'The server is not ready. Only the readiness probes use this code',
}

/** The next step of a caller for each error code, for documents. */
export const errorRemedies: Record<ErrorCode, string> = {
  invalid_request: 'Read the message, which names the field and the rule',
  unauthorized:
    'The token may have expired or been revoked, or the sign-in has ended. Make a new token, or run `skerry login`',
  forbidden:
    'Use a credential with this permission, or ask an admin. If the message says that you hold no key, an admin who holds it runs `skerry grant`',
  mfa_required: 'Sign in again with `skerry login`, and enter the second factor. The organization may require one',
  quota_exceeded: 'Delete something that you do not need, or ask an admin about the plan or the limit',
  not_found:
    'Check the name, the organization and the address of the server. `skerry whoami` shows which credential is used',
  conflict: 'Read the current state and decide again. Choose another name if the name is in use',
  rate_limited: 'Wait for the time that the message or `Retry-After` names. Then try again',
  internal: 'Try again. The operator searches the log for the request id',
  unavailable: 'Wait until the database is back. The operator reads the reason in `GET /ready`',
}

const inOrganization = (endpoint: Endpoint) => endpoint.path.includes('/:orgId')

/** Error codes that every operation of a kind can answer. An endpoint lists all others itself, in `refuses`. */
const byKind: { code: ErrorCode; when: (endpoint: Endpoint) => boolean }[] = [
  // Even an operation without input can answer `invalid_request`, because it refuses an unknown query parameter.
  { code: 'invalid_request', when: () => true },
  { code: 'unauthorized', when: (endpoint) => endpoint.surface !== 'none' },
  // Answered to a person who still has to enter the second factor. `/v1/me` may be read before that.
  { code: 'mfa_required', when: (endpoint) => endpoint.surface === 'principal' && endpoint.path !== '/v1/me' },
  { code: 'forbidden', when: inOrganization },
  { code: 'mfa_required', when: inOrganization },
  { code: 'not_found', when: inOrganization },
  { code: 'rate_limited', when: () => true },
  { code: 'internal', when: () => true },
]

/**
 * Lists every error code of an operation by status, in the order of the error table.
 *
 * @example refusalsOf(apps.create).get(409) // ['conflict']
 */
export function refusalsOf(endpoint: Endpoint): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>(endpoint.refuses)
  for (const { code, when } of byKind) if (when(endpoint)) codes.add(code)
  const ordered = (Object.keys(errorStatus) as ErrorCode[]).filter((code) => codes.has(code))
  return Map.groupBy(ordered, (code) => errorStatus[code])
}
