import type { leases } from '@skerry/contract/leases/endpoints'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { In, Out, Work } from '../../http/route.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { Ending } from './ledger-store.ts'
import type { TargetTrigger } from './lifecycle.ts'
import type { Lease, LeaseTarget, OnTarget } from './scope.ts'
import type { SignInTarget } from './session.ts'
import type { Waiting } from './waiting.ts'

/**
 * A lease executor signs in to a target: it tries credentials, makes leases and ends them. The rules of leases are the
 * same for every lease executor. Only its implementation knows who does the work, and whether the work is done at once.
 * The package `executor`, which serves vaults, is something else.
 */
export interface Executor {
  /** Tries a new credential before it is stored, or says that it is not tried yet. */
  tryCredential(context: Context, target: SignInTarget): Promise<CredentialFacts>
  /** Requests a check of a new credential, in the transaction that stores it. */
  requestCheck(db: Tx, target: LeaseTarget, now: string): Promise<void>
  /** Returns a target once a requested check is done, or as it is when the request has waited long enough. */
  waitForCheck(waiting: Waiting, target: LeaseTarget): Promise<LeaseTarget>
  /** Signs in to a target because an admin asks for it, and returns the target as it was found. */
  verify(input: In<typeof leases.verifyTarget, OnTarget>): Promise<LeaseTarget>

  /** Requests a lease, in the transaction that stores it. */
  requestLease(work: Pick<Work<'lease.requested'>, 'db' | 'audit'>, lease: RequestedLease): Promise<void>
  /** Makes a stored lease. Calls `undo` if this server has failed to make it. */
  make(minting: Minting): Out<typeof leases.create>
  /** True if a lease may be revoked while it is being made. */
  canEndWhileMaking: boolean
  /** Ends the due leases of a target. Returns false if the organization has no free process; they stay due then. */
  end(context: Context, target: LeaseTarget, due: readonly Ending[], waitMs?: number): Promise<boolean>
  /** Returns a lease once it has ended, or as it is when the request has waited long enough. */
  waitForEnd(waiting: Waiting, lease: Lease): Promise<Lease>
}

/** Facts about a target after a try of its credential. `replace` means that the credential was not tried. */
interface CredentialFacts {
  trigger: Extract<TargetTrigger, 'reach' | 'replace'>
  server: string | null
  notes: string[]
}

/** A stored lease, with its target and its verifier. */
interface RequestedLease {
  target: LeaseTarget
  lease: Lease
  verifier: string | undefined
  now: string
}

export interface Minting {
  input: In<typeof leases.create, InOrg>
  target: LeaseTarget
  lease: Lease
  /** Records that the lease failed, and removes what may be left of it. */
  undo: (error: unknown) => Promise<void>
}
