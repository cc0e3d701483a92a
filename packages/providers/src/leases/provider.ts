import type { LeaseConfig, LeaseMint, LeaseResult, LeaseTag } from '@skerry/contract/leases/providers'
import type { Outbound } from '../outbound.ts'

/** The module of one adapter. It is loaded, with its driver, when the first target of its kind is used. */
export interface LeaseProvider<T extends LeaseTag> {
  /**
   * Signs in to the target. The schemas of `contract` have checked names and shapes. The adapter refuses here what the
   * schemas cannot check, before anything is sent. Throws `ProviderError`.
   */
  open(target: LeaseTarget<T>, outbound: Outbound): Promise<LeaseSession<T>>
}

export interface LeaseTarget<T extends LeaseTag> {
  config: LeaseConfig<T>
  /** The admin credential in plaintext. */
  credential: string
}

/**
 * One connection to a target, which creates and ends leases one after another. Many leases can be ended in one session.
 * A PostgreSQL session sometimes opens a second connection, to another database in which a lease owns objects.
 */
export interface LeaseSession<T extends LeaseTag> {
  /** Describes the target. Refuses one that could never work, with the reason. Changes nothing there. */
  verify(): Promise<TargetFacts>
  /** Creates the account or the credential. Refuses an existing name with `exists`, and changes nothing. */
  create(lease: Lease<T>): Promise<Issued<T>>
  /**
   * Removes the account and ends its sessions. An account that is gone or half created is no error. An account of this
   * name that is not the lease’s own is refused with `foreign` and stays unchanged. Does nothing if the target cannot
   * revoke.
   */
  revoke(lease: LeaseAccountRef): Promise<Removal>
  /** Lists the accounts on the target that may be leases, for a comparison with the ledger. */
  list(): Promise<LeaseAccount[]>
  close(): Promise<void>
}

export interface TargetFacts {
  /** Product and version: `PostgreSQL 15.20`. */
  server: string
  /** Notes for the admin: full sentences, without secrets. */
  notes: string[]
}

/** The fields of a mint request, without its target and its recipient. */
export type Lease<T extends LeaseTag> = Omit<LeaseMint<T>, 'provider' | 'targetId' | 'recipientPublicKey'> & {
  id: string
  expiresAt: Date
}

export interface Issued<T extends LeaseTag> {
  /** The name of the created object: account, certificate serial, session. */
  resourceRef: string
  /** The answer of the mint, without the credential that must be wrapped first. */
  result: Omit<LeaseResult<T>, 'wrappedCredential'>
  /** The plaintext to wrap to the recipient’s key, if the target created the credential. */
  credential?: string
}

/**
 * The objects of a removed account, as labels such as `table app.notes`. Each list is cut to
 * `limits.leaseObjectsNamedMax`, and its last entry then says how many more there are.
 */
export interface Removal {
  /** Dropped objects. They ran with the rights of the account. */
  dropped: string[]
  /** Objects that now belong to a role which cannot sign in. */
  reassigned: string[]
  /** Why the account still exists. Null if it is gone. */
  problem: string | null
}

/** The data of a ledger about a lease that has to end. */
export interface LeaseAccountRef {
  id: string
  resourceRef: string
  /** SHA-256 of the verifier in hex, if the client sent one. */
  verifierDigest: string | null
}

/** An account on a target. It belongs to a lease if it has the lease’s id, or the digest of the lease’s verifier. */
export interface LeaseAccount {
  name: string
  /** From the mark on the account. Null if the target cannot store a mark. */
  leaseId: string | null
  /** SHA-256 of the stored verifier in hex, if it can be read. */
  verifierDigest: string | null
}
