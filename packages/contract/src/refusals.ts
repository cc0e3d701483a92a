import type { Endpoint } from './endpoint.ts'
import { type ErrorCode, errorStatus } from './errors.ts'

/** The meaning of each error code, for documents. */
export const errorMeanings: Record<ErrorCode, string> = {
  invalid_request: 'The request is not of the form that the operation takes; the message names the place',
  unauthorized: 'No credential, or one that does not work',
  forbidden: 'The credential works, but may not do this',
  mfa_required: 'The second factor must be entered again first',
  quota_exceeded: 'The organization’s plan, or a limit of the server, allows no more of this',
  not_found: 'No such thing, or none that the caller may know of',
  conflict: 'The present state does not allow it: a name is taken, or a version has moved on',
  rate_limited: 'Too many requests; `Retry-After` gives the seconds to wait',
  internal: 'The server failed; its log has the cause under the request’s id',
  unavailable: 'The server is not ready; only the readiness probes answer with it',
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
