import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { ChildFailure } from '@skerry/providers/children/messages'
import type { RemoteSession } from '@skerry/providers/children/remote'
import { OutboundError } from '@skerry/providers/outbound'
import { ProviderError } from '@skerry/providers/provider-error'
import type { Context } from '../../http/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { brokerOf } from '../../keys/keypairs.ts'
import { countChildFailure, endChildFailures } from './pause.ts'

/** A target, stored or not, with the credential to sign in with. */
export interface SignInTarget {
  orgId: string
  config: object
  wrappedAdminSecret: string
  /** Undefined for a target that is not stored yet. */
  id?: string
  childFailures?: number
}

/**
 * Signs in to a target, uses the session and closes it. The credential is decrypted only for this. A refusal by the
 * target becomes a refusal of this server that names the target.
 */
export async function onTarget<T>(
  context: Context,
  target: SignInTarget,
  use: (session: RemoteSession) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const config = target.config as LeaseConfig<LeaseTag>
  const opened = await context.keypairs.openWrapped(context.db, brokerOf(target.orgId), target.wrappedAdminSecret)
  if (!opened)
    throw fail('invalid_request', 'body.wrappedAdminSecret: is not wrapped to the broker key of this organization')
  const credential = new TextDecoder().decode(opened)
  return await counted(context, target, () =>
    context.adapters.onTarget(target.orgId, { config, credential }, aroundOf(context), use, waitMs),
  )
}

/** The clock and the time limits of this server, for an adapter in a child. */
export const aroundOf = ({ now, outbound: { answerMs, statementMs } }: Context) => ({
  now,
  ...(answerMs === undefined ? {} : { answerMs }),
  ...(statementMs === undefined ? {} : { statementMs }),
})

/** Runs work on a stored target, and counts failures in which the target ended the adapter's process. */
export async function counted<T>(
  context: Context,
  { orgId, id, childFailures = 0 }: Pick<SignInTarget, 'orgId' | 'id' | 'childFailures'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const done = await work()
    if (id !== undefined && childFailures > 0) await endChildFailures(context, { orgId, id })
    return done
  } catch (error) {
    if (id !== undefined && error instanceof ChildFailure)
      await countChildFailure(context, { orgId, id }, error.message)
    throw asRefusal(error)
  }
}

/** A refusal by a target or its adapter. */
class TargetRefusal extends Refusal {
  /** True if the target reported that it changed nothing, so that there is nothing to undo. */
  readonly changedNothing: boolean
  /** True if the target answered. After a broken connection it may still do what was sent. */
  readonly answered: boolean

  constructor({ reason, message }: ProviderError) {
    // The caller can correct what the adapter refused before it sent anything. Other messages come from the target.
    if (reason === 'invalid') super('invalid_request', message)
    else super('conflict', `target: ${message}`)
    this.changedNothing = ['exists', 'invalid', 'unsupported', 'foreign'].includes(reason)
    this.answered = reason !== 'unreachable'
  }
}

/** Turns an error of a target or its adapter into a refusal. Returns any other error unchanged. */
function asRefusal(error: unknown): unknown {
  if (error instanceof ProviderError) return new TargetRefusal(error)
  if (error instanceof OutboundError) return fail('conflict', `target: ${error.message}`)
  return error
}

export const changedNothing = (error: unknown): boolean => error instanceof TargetRefusal && error.changedNothing

/** True if the target answered, so that the result of the call is known. */
export const isAnswered = (error: unknown): boolean => error instanceof TargetRefusal && error.answered

/** True if the target did not answer, so that the result of the call is unknown. */
export const isUncertain = (error: unknown): boolean => error instanceof TargetRefusal && !error.answered
