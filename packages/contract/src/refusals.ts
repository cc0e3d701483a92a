import type { Endpoint } from './endpoint.ts'
import { type ErrorCode, errorStatus } from './errors.ts'

/** The meaning of each error code, for documents. */
export const errorMeanings: Record<ErrorCode, string> = {
  invalid_request: 'A field of the request is missing or wrong',
  unauthorized: 'The request has no valid token or session',
  forbidden: 'The server knows the caller, but the caller is not allowed to do this',
  mfa_required:
    'The person must enter a second factor: they have not entered one in this session, or the last time is too long ago',
  quota_exceeded: 'The request would exceed the plan of the organization or a limit of the server',
  not_found: 'The requested object does not exist, or the caller is not allowed to see it',
  conflict:
    'The current state does not allow the change. For example, the name is in use, or somebody has stored a newer version',
  rate_limited:
    'The caller sent too many requests. The header `Retry-After` says after how many seconds the caller may try again',
  internal: 'The server failed. The operator finds the cause in the log of the server, by the id of the request',
  unavailable:
    'The server cannot serve requests now. Only the health checks (`/ready` and `/ready/writes`) answer with this code',
}

/** The next step of a caller for each error code, for documents. */
export const errorRemedies: Record<ErrorCode, string> = {
  invalid_request: 'Correct the field that the message names. The message also has the rule for this field',
  unauthorized:
    'The token may have expired or been revoked, or the sign-in has ended. Make a new token, or run `skerry login`',
  forbidden:
    'Use a token or account that is allowed to do this, or ask an admin. If the message says that you hold no key grant, ask an admin who can read the environment to run `skerry grant`',
  mfa_required:
    'Sign in again with `skerry login`, and enter the second factor. If the organization requires a second factor and you have none, set one up in the dashboard',
  quota_exceeded: 'Delete something that you do not need, or ask an admin for a larger plan',
  not_found:
    'Check the name, the organization and the address of the server. `skerry whoami` shows which credential is used',
  conflict:
    'If the name is in use, choose another name. In all other cases, read the current state, and decide whether to try again',
  rate_limited: 'Wait as long as the message or `Retry-After` says. Then try again',
  internal: 'Try again. If the error comes again, ask the operator to search the log for the id of the request',
  unavailable: 'Wait until the database can be reached again. `GET /ready` tells the operator the reason',
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
