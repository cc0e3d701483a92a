import type { AccountKind, RotationConfig } from '@skerry/contract/rotation/kinds'
import type { LeaseTarget } from '../leases/provider.ts'
import type { Outbound } from '../outbound.ts'

/** The module of one adapter. It is loaded, with its driver, when the first account of its kind is used. */
export interface RotationProvider<K extends AccountKind> {
  /** Signs in as the admin, and checks that the account exists and can get a password. Changes nothing. */
  verify(account: Account<K>, outbound: Outbound): Promise<void>
  /**
   * Gives the account another password, as a verifier, so that no statement contains the password. A repeated call is
   * harmless.
   * @param keep a password that must stay valid too, if the target can store two; null if none is known
   */
  change(account: Account<K>, password: string, keep: string | null, outbound: Outbound): Promise<void>
  /**
   * Whether the account signs in with this password. Throws `ProviderError` if the target gave no clear answer. Redis
   * receives the password here. PostgreSQL and MySQL get the answer to a challenge, and are refused if they request the
   * password over unverified TLS.
   */
  signsIn(account: Account<K>, password: string, outbound: Outbound): Promise<boolean>
}

/** An account on a lease target, with the admin credential that may change it. */
export interface Account<K extends AccountKind> {
  target: LeaseTarget<K>
  /** The account to change. Two accounts may take turns. */
  username: string
  config: RotationConfig<K>
}
