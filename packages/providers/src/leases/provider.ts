import type { LeaseConfig, LeaseMint, LeaseResult, LeaseTag } from '@skerry/contract/leases/providers'
import type { Outbound } from '../outbound.ts'

/** The module of one adapter. It is loaded, with its driver, when the first target of its kind is used. */
export interface LeaseProvider<T extends LeaseTag> {
  /**
   * Signs in to the target. Names and shapes were checked by the schemas of `contract`; what they cannot see, the adapter
   * refuses here, before anything is sent. Throws `ProviderError`.
   */
  open(target: LeaseTarget<T>, outbound: Outbound): Promise<LeaseSession<T>>
}

export interface LeaseTarget<T extends LeaseTag> {
  config: LeaseConfig<T>
  /** The admin credential, opened. */
  credential: string
}

/**
 * One connection to a target, on which leases are made and ended one after another. Many that end together need one
 * session; a PostgreSQL one opens a second connection at times, to another database in which a lease owns something.
 */
export interface LeaseSession<T extends LeaseTag> {
  /** Says what the target is, and refuses one that could never work, with the reason. Changes nothing there. */
  verify(): Promise<TargetFacts>
  /** Creates the account or the credential. A name that exists is refused with `exists`, and nothing was changed. */
  create(lease: Lease<T>): Promise<Issued<T>>
  /**
   * Removes the account and ends its sessions. What is gone already, or was half made, is no error. An account of the name
   * that is not the lease’s own is refused with `foreign` and left alone. Without effect where nothing can be taken back.
   */
  revoke(lease: LeaseAccountRef): Promise<Removal>
  /** The accounts on the target that may be leases, so that a ledger can be compared with it. */
  list(): Promise<LeaseAccount[]>
  close(): Promise<void>
}

export interface TargetFacts {
  /** Product and version: `PostgreSQL 15.20`. */
  server: string
  /** What an admin should know: full sentences, without anything secret. */
  notes: string[]
}

/** What a mint asked for, beside whom it is for. */
export type Lease<T extends LeaseTag> = Omit<LeaseMint<T>, 'provider' | 'targetId' | 'recipientPublicKey'> & {
  id: string
  expiresAt: Date
}

export interface Issued<T extends LeaseTag> {
  /** The name of what was made: account, certificate serial, session. */
  resourceRef: string
  /** What the mint answers, but for what must be wrapped first. */
  result: Omit<LeaseResult<T>, 'wrappedCredential'>
  /** The plaintext to wrap to the recipient’s key, where the target made the credential. */
  credential?: string
}

/**
 * What became of the objects of an account: labels such as `table app.notes`, cut to `limits.leaseObjectsNamedMax`. The last
 * then says how many more there are.
 */
export interface Removal {
  /** Objects that ran with the rights of the account. */
  dropped: string[]
  /** Objects that passed to a role which cannot sign in. */
  reassigned: string[]
  /** Why the account itself is still there. Null once it is gone. */
  problem: string | null
}

/** What a ledger knows of a lease that has to end. */
export interface LeaseAccountRef {
  id: string
  resourceRef: string
  /** SHA-256 of the verifier in hex, where the client sent one. */
  verifierDigest: string | null
}

/** An account on a target. It is a lease’s own when the id is the lease’s, or the digest that of its verifier. */
export interface LeaseAccount {
  name: string
  /** From the mark that the account carries, where the target has room for one. */
  leaseId: string | null
  /** SHA-256 of the stored verifier in hex, where it can be read. */
  verifierDigest: string | null
}
