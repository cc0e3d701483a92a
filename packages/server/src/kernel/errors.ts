import type { AuditAction } from '@skerry/contract/audit-actions'
import { type ErrorCode, errorStatus } from '@skerry/contract/errors'

/** An audit entry for something refused; written after the rollback of what was refused. */
export interface Denial {
  orgId: string
  action: AuditAction
  resourceId: string | null
  metadata: Record<string, unknown>
}

/** Anything that the server says no to. Made by `fail`, answered in one place (`http/serve.ts`). */
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

/** The way to refuse: `throw fail('not_found', 'application not found')`. Nothing of the call remains. */
export function fail(
  code: ErrorCode,
  message: string,
  more?: { denial?: Denial; retryAfterSeconds?: number },
): Refusal {
  return new Refusal(code, message, more)
}

/** A refusal that a handler returns: what its transaction wrote stays. */
export class CommittedRefusal {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    this.refusal = refusal
  }
}

/**
 * Refuses and keeps what was written, as a count of tries must be: `return refuseAndCommit('forbidden', 'this code is wrong')`.
 */
export const refuseAndCommit = (code: ErrorCode, message: string): CommittedRefusal =>
  new CommittedRefusal(fail(code, message))

/**
 * What may be logged of an error that nobody expected: its name, SQLSTATE and stack frames. Never the message: those of
 * JSON.parse and of PostgreSQL quote what they choke on, and that came from a body.
 */
export function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const { code, constraint } = error as { code?: unknown; constraint?: unknown }
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return { error: error.name, code, constraint, stack: frames?.slice(0, 12).map((line) => line.trim()) }
}
