import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { Lease, LeaseAccountRef, LeaseTarget } from '../leases/provider.ts'
import { ProviderError, type ProviderFailure } from '../provider-error.ts'
import type { Account } from '../rotation/provider.ts'

// Messages between a process and its adapter children: lines of JSON over the child's stdin and stdout. A child handles
// one request at a time. The first line to the child contains the settings of its network access.

/** The clock and timeouts of the process that started the child. Sent with each sign-in. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  nowMs: number
  answerMs?: number | undefined
  statementMs?: number | undefined
}

export type Request =
  | { op: 'open'; tag: LeaseTag; target: LeaseTarget<LeaseTag>; around: Surroundings }
  | { op: 'verify' }
  | { op: 'create'; lease: Lease<LeaseTag> }
  | { op: 'revoke'; lease: LeaseAccountRef }
  | { op: 'close' }
  | ({ op: 'account'; kind: AccountKind; account: Account<AccountKind>; around: Surroundings } & AccountCall)

export type AccountCall =
  | { call: 'verify' }
  | { call: 'change'; password: string; keep: string | null }
  | { call: 'signsIn'; password: string }

export type Answer =
  | { value: unknown }
  | { error: { reason: ProviderFailure; message: string; retryAfterMs?: number | undefined } }
  /** The adapter threw an error that is not a refusal. Its stack frames contain no data, but its message might. */
  | { fault: { name: string; frames: string[] } }

/** The longest answer of an adapter. A child that writes a longer line is ended. */
export const answerBytesMax = 1024 * 1024

export const residentBytesMax = 256 * 1024 * 1024

/** The watchdog writes this to stderr before it ends a child whose memory exceeds the limit. */
export const swollenMark = 'memory\n'

export type ChildEnd = 'died' | 'hung' | 'swelled'

const texts: Readonly<Record<ChildEnd, string>> = {
  died: 'the target sent an answer that the driver cannot read, so the connection was closed',
  hung: 'the target kept the driver busy for too long, so the connection was closed',
  swelled: `the target sent more than ${residentBytesMax / 1024 / 1024} MiB, so the connection was closed`,
}

/** The target crashed the process that spoke with it, or the process had to be ended because of the target. */
export class ChildFailure extends ProviderError {
  readonly end: ChildEnd

  constructor(end: ChildEnd) {
    super('unreachable', texts[end])
    this.name = 'ChildFailure'
    this.end = end
  }
}
