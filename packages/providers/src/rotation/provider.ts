import type { AccountKind, RotationConfig } from '@skerry/contract/rotation/kinds'
import type { LeaseTarget } from '../leases/provider.ts'
import type { Outbound } from '../outbound.ts'

/** The module of one adapter. It is loaded, with its driver, when the first account of its kind is used. */
export interface RotationProvider<K extends AccountKind> {
  /** Signs in as the admin and looks whether the account is there and can be given a password. Changes nothing. */
  verify(account: Account<K>, outbound: Outbound): Promise<void>
  /**
   * Gives the account another password, as a verifier: no statement holds the password itself. Again is fine.
   * @param keep a password that is to stay good beside it, where the target can hold two; null where none is known
   */
  change(account: Account<K>, password: string, keep: string | null, outbound: Outbound): Promise<void>
  /**
   * Whether the account signs in with this password. Throws `ProviderError` where the target did not say. Redis receives the
   * password here. PostgreSQL and MySQL answer a challenge, and are refused where they ask for it over unverified TLS.
   */
  signsIn(account: Account<K>, password: string, outbound: Outbound): Promise<boolean>
}

/** An account on a lease target, with the admin credential that may change it. */
export interface Account<K extends AccountKind> {
  target: LeaseTarget<K>
  /** Which of the accounts that take turns. */
  username: string
  config: RotationConfig<K>
}
