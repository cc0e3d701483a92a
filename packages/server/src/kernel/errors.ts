import type { AuditAction } from '@skerry/contract/actions'
import { type ErrorCode, errorStatus } from '@skerry/contract/errors'

/** An audit entry for a denied request. It is written after the rollback. */
export interface Denial {
  orgId: string
  action: AuditAction
  resourceId: string | null
  metadata: Record<string, unknown>
}

/** A request that the server refuses. `fail` creates it, and only `http/serve.ts` answers it. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly denial: Denial | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, more: { denial?: Denial; retryAfterSeconds?: number } = {}) {
    super(message)
    this.code = code
    this.denial = more.denial
    this.retryAfterSeconds = more.retryAfterSeconds
  }

  get status(): number {
    return errorStatus[this.code]
  }
}

/**
 * Creates a refusal: `throw fail('not_found', 'application not found')`. All changes of the request are rolled back.
 */
export function fail(
  code: ErrorCode,
  message: string,
  more?: { denial?: Denial; retryAfterSeconds?: number },
): Refusal {
  return new Refusal(code, message, more)
}

/** A refusal that a handler returns instead of throwing, so that its transaction is committed. */
export class CommittedRefusal {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

/**
 * Refuses and still commits, for example a counter of attempts: `return refuseAndCommit('forbidden', 'this code is
 * wrong')`.
 */
export const refuseAndCommit = (code: ErrorCode, message: string): CommittedRefusal =>
  new CommittedRefusal(fail(code, message))

/**
 * A failure of a service that the operator configured, such as the SMTP server or the identity provider. Its `reason`
 * is safe to log and tells the operator what to change.
 */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError'
  readonly reason: string
  readonly code: string | undefined

  constructor(reason: string, { code, cause }: { code?: string | undefined; cause?: unknown } = {}) {
    super(reason, { cause })
    this.reason = reason
    this.code = code
  }
}

const loggedCharactersMax = 300
/** Searching a longer text would take too long. */
const searchedCharactersMax = 4000

/**
 * Prepares a text of another server for the log: one short line. It removes the given secrets, e-mail addresses, and
 * everything that looks random, such as a code or a token.
 */
export function redactForLog(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length)
  return known
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text.slice(0, searchedCharactersMax))
    .replaceAll(/[^\s<>@]+@[^\s<>@]+/g, '[address]')
    .replaceAll(/(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{20,}/g, '[redacted]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, loggedCharactersMax)
}

/**
 * Describes an unexpected error for the log: its name, SQLSTATE and stack frames. The message is left out, because
 * JSON.parse and PostgreSQL quote text that they cannot read, and it may come from a request body. A ServiceError has a
 * safe reason.
 */
export function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code, constraint } = error as { code?: unknown; constraint?: unknown }
  if (error instanceof ServiceError) return { error: error.name, code, reason: error.reason }
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return { error: error.name, code, constraint, stack: frames?.slice(0, 12).map((line) => line.trim()) }
}
