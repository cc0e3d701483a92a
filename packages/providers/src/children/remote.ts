import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { LeaseSession, LeaseTarget } from '../leases/provider.ts'
import type { Outbound } from '../outbound.ts'
import type { Account } from '../rotation/provider.ts'
import type { Child } from './child.ts'
import type { AccountCall, Request, Surroundings } from './messages.ts'

/** The part of a lease session that programs use. Only tests list accounts. */
export type RemoteSession = Omit<LeaseSession<LeaseTag>, 'list' | 'close'>

/** The clock and the patience with which an adapter in a child works. */
export type Around = Pick<Outbound, 'now' | 'answerMs' | 'statementMs'>

const answerMsDefault = 10_000

/** A call makes a few round trips, and its adapter ends each after `answerMs`. A child that takes longer than all of them hangs. */
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

/** Does one call of a rotation adapter in the child. */
export const onRemoteAccount = (
  child: Child,
  kind: AccountKind,
  account: Account<AccountKind>,
  around: Around,
  call: AccountCall,
): Promise<unknown> =>
  child.ask({ op: 'account', kind, account, around: surroundingsOf(around), ...call }, deadlineOf(around))
