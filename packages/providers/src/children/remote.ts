import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { LeaseSession, LeaseTarget } from '../leases/provider.ts'
import type { Outbound } from '../outbound.ts'
import type { Account } from '../rotation/provider.ts'
import type { Child } from './child.ts'
import type { AccountCall, Request, Surroundings } from './messages.ts'

/**
 * A lease session in a child. It lacks `list`, which only tests use, and `close`, which `withLeaseSession` calls
 * itself.
 */
export type RemoteSession = Omit<LeaseSession<LeaseTag>, 'list' | 'close'>

/** The clock and timeouts of an adapter in a child. */
export type Around = Pick<Outbound, 'now' | 'answerMs' | 'statementMs'>

const answerMsDefault = 10_000

/**
 * A call makes a few round trips, and each may take `answerMs`. A child that needs longer than six round trips hangs.
 */
const answersPerCall = 6

const deadlineOf = ({ answerMs = answerMsDefault }: Around) => answerMs * answersPerCall

const surroundingsOf = ({ now, answerMs, statementMs }: Around): Surroundings => ({
  nowMs: now().getTime(),
  answerMs,
  statementMs,
})

/** Signs in to a target in the child, uses the session and closes it. */
export async function withLeaseSession<T>(
  child: Child,
  target: LeaseTarget<LeaseTag>,
  around: Around,
  use: (session: RemoteSession) => Promise<T>,
): Promise<T> {
  const ask = (request: Request) => child.ask(request, deadlineOf(around))
  await ask({ op: 'open', tag: target.config.provider, target, around: surroundingsOf(around) })
  const session: RemoteSession = {
    verify: () => ask({ op: 'verify' }) as ReturnType<RemoteSession['verify']>,
    create: (lease) => ask({ op: 'create', lease }) as ReturnType<RemoteSession['create']>,
    revoke: (lease) => ask({ op: 'revoke', lease }) as ReturnType<RemoteSession['revoke']>,
  }
  try {
    return await use(session)
  } finally {
    // An error while closing does not change the result of the job. The child is killed, so that it is not reused.
    await ask({ op: 'close' }).catch(() => child.kill())
  }
}

/** Runs one call of a rotation adapter in the child. */
export const onRemoteAccount = (
  child: Child,
  kind: AccountKind,
  account: Account<AccountKind>,
  around: Around,
  call: AccountCall,
): Promise<unknown> =>
  child.ask({ op: 'account', kind, account, around: surroundingsOf(around), ...call }, deadlineOf(around))
