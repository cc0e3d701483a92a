import type { LeaseConfig, LeaseTag } from '@skerry/contract/lease-providers'
import type { LeaseSession } from '@skerry/providers/leases/provider'
import { openLeaseTarget } from '@skerry/providers/leases/registry'
import { OutsideError } from '@skerry/providers/outside'
import { ProviderError } from '@skerry/providers/provider-error'
import type { Context } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { brokerOf } from '../../keys/keypairs.ts'

interface Target {
  orgId: string
  config: object
  wrappedAdminSecret: string
}

/**
 * Signs in to a target, uses the session and closes it. The credential is opened for this and for nothing else. What the
 * target refuses is a refusal of ours that says so.
 */
export async function onTarget<T>(
  context: Context,
  target: Target,
  use: (session: LeaseSession<LeaseTag>) => Promise<T>,
): Promise<T> {
  const config = target.config as LeaseConfig<LeaseTag>
  const opened = await context.keypairs.openWrapped(context.db, brokerOf(target.orgId), target.wrappedAdminSecret)
  if (!opened)
    throw fail('invalid_request', 'body.wrappedAdminSecret: is not wrapped to the broker key of this organization')
  const credential = new TextDecoder().decode(opened)
  try {
    const session = await openLeaseTarget(config.provider, { config, credential }, context.outbound)
    try {
      return await use(session)
    } finally {
      await session.close()
    }
  } catch (error) {
    throw asRefusal(error)
  }
}

/** What a target, or its adapter, has refused. */
class TargetRefusal extends Refusal {
  /** It said that it changed nothing: there is nothing to undo. */
  readonly changedNothing: boolean
  /** It said so much. Where the connection broke, what was sent may still be done. */
  readonly answered: boolean

  constructor({ reason, message }: ProviderError) {
    // What the adapter found wrong before it sent anything is the caller's to mend; the rest is the target's word.
    if (reason === 'invalid') super('invalid_request', message)
    else super('conflict', `target: ${message}`)
    this.changedNothing = ['exists', 'invalid', 'unsupported', 'foreign'].includes(reason)
    this.answered = reason !== 'unreachable'
  }
}

/** The word of a target, or of its adapter, as a refusal of ours. Anything else stays what it is. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof ProviderError) return new TargetRefusal(error)
  if (error instanceof OutsideError) return fail('conflict', `target: ${error.message}`)
  return error
}

export const changedNothing = (error: unknown): boolean => error instanceof TargetRefusal && error.changedNothing

/** Whether a target has said what became of what was sent. */
export const isAnswered = (error: unknown): boolean => error instanceof TargetRefusal && error.answered

/** Whether it has not. */
export const isUncertain = (error: unknown): boolean => error instanceof TargetRefusal && !error.answered
