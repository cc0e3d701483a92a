import { unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { type EnvironmentKey, environmentKey, environmentKeyOf, type RememberingHolder } from './environment-key.ts'
import { type Holder, type OwnKeys, type ParentGrantee, type Rekeying, withNewKey } from './rekey-body.ts'
import { findRekeyProblems, type RekeyProblem } from './rekey-compare.ts'
import { type ChangeRequest, noted, type WriteOptions } from './secrets.ts'

export type { RekeyProblem } from './rekey-compare.ts'

/**
 * A re-key that waits for approvals. The environment gets the new key when enough admins have approved. If a secret, a
 * description or a grant of the environment changes before that, the environment keeps its old key.
 */
export interface ProposedRekey {
  changeRequest: ChangeRequest
  /** The new key. Before the last approval, the environment keeps its old key. */
  key: EnvironmentKey
  /** The number of secrets that were encrypted with the new key. */
  secrets: number
  /** The principals who get the new key, including the caller. */
  kept: Holder[]
  /**
   * The principals in `kept` that are part of the server (rotation, sync). With such a principal, the server can read
   * the environment.
   */
  readers: Holder[]
  /** The principals who have the old key, and do not get the new key. */
  lost: Holder[]
}

/**
 * Proposes a new key for a protected environment. If the environment is not protected, use `rekeyEnvironment` of
 * `@skerry/sdk/environments`. The environment keeps its key until enough admins approve.
 *
 * If a secret, a description or a grant changes before the last approval, the proposal is stale, that is, out of date.
 * The next approval then closes the proposal and does not replace the key, so you must propose again. An environment
 * can have only one re-key that waits for approval, but a new proposal replaces a stale proposal.
 *
 * @param own the caller's key pair. The caller must be an admin and have the key of the environment.
 * @param options.note the reason for the re-key, for the people who approve it. At most 2,000 characters.
 * @throws the errors of `rekeyEnvironment`; RefusedError `conflict` if the environment is not protected, or if another
 *   re-key of the environment waits for approval; SkerryError `old_server`.
 * @example
 * const keeps = (one: ParentGrantee) => one.principalId === userId && one.publicKeyJwk === remembered
 * const { changeRequest } = await proposeRekey(client, { orgId, envId, keeps }, { privateKey, publicKeyJwk })
 */
export async function proposeRekey(
  client: Client,
  place: Rekeying,
  own: OwnKeys,
  options: Pick<WriteOptions, 'note'> = {},
): Promise<ProposedRekey> {
  const { orgId, envId } = place
  return withNewKey(client, place, own, async ({ body, key, ...holders }) => {
    const { changeRequest } = await client.changes.proposeRekey({ params: { orgId, envId }, body }, noted(options))
    return { changeRequest, key, secrets: body.secrets.length, ...holders }
  })
}

/** The result of `compareRekey`. */
export interface ComparedRekey {
  /**
   * True if the proposal is out of date, because a secret, a description or a grant of the environment has changed
   * since the proposal. An approval then closes the proposal and does not replace the key.
   */
  stale: boolean
  /**
   * The readers who have the present key and get the new key. Compare their public keys with the public keys that you
   * know.
   */
  keeps: ParentGrantee[]
  /** The readers who have the present key and lose access. */
  loses: ParentGrantee[]
  /**
   * Principals who get the new key, although the server does not list them as readers now. An honest server refuses
   * such a proposal.
   */
  strangers: Holder[]
  /**
   * True if the new key is also wrapped for the organization's recovery key. The custodians can then recover the new
   * key.
   */
  covered: boolean
  /**
   * The comparison of all values and descriptions. `key` is the new key. `same` is the number of secrets whose value
   * does not change. `problems` lists everything that would change. The field `values` is null if the caller does not
   * have the present key, or would not get the new key.
   */
  values: { key: EnvironmentKey; same: number; problems: RekeyProblem[] } | null
}

/**
 * Compares a proposed re-key with the present state of the environment. Call this function before you approve the
 * re-key. The function decrypts the present values with the present key, and the proposed values with the new key. A
 * correct re-key changes no value. `values.problems` lists each difference. If there is a difference, the proposer or
 * the server has put in another value, or nobody could decrypt a value even before the proposal.
 *
 * @param place the ids of the organization, the environment and the change request (second argument).
 * @param privateKey the caller's private key.
 * @throws RefusedError `not_found` if the change request is already approved, rejected or closed, or is not a re-key;
 *   SkerryError `old_server`; CryptoError if the caller cannot unwrap the new key; UnavailableError.
 * @example
 * const { values, loses } = await compareRekey(client, { orgId, envId, changeRequestId }, privateKey)
 * if (values?.problems.length === 0) await client.changes.approve({ params: { orgId, changeRequestId }, body: { rekey: true } })
 */
export async function compareRekey(
  client: Client,
  { orgId, envId, changeRequestId }: { orgId: string; envId: string; changeRequestId: string },
  privateKey: RememberingHolder,
): Promise<ComparedRekey> {
  const [{ rekey }, { grantees }] = await Promise.all([
    client.changes.rekey({ params: { orgId, changeRequestId } }),
    client.envs.grantees({ params: { orgId, envId } }),
  ])
  const { stale, covered, grants, wrappedDek, secrets, details } = rekey
  const isNamed = (one: Holder) => grants.some((grant) => isSame(grant, one))
  const shown = {
    stale,
    covered,
    keeps: grantees.filter(isNamed),
    loses: grantees.filter((one) => !isNamed(one)),
    strangers: grants.filter((grant) => !grantees.some((one) => isSame(grant, one))),
  }
  if (wrappedDek === null || secrets === null) return { ...shown, values: null }
  const old = await environmentKey(client, { orgId, envId }, privateKey)
  const key = await environmentKeyOf(await unwrapKey(wrappedDek, privateKey))
  const [now, described] = await Promise.all([
    client.secrets.list({ params: { orgId, envId } }),
    client.secretDetails.list({ params: { orgId, envId } }),
  ])
  const problems = await findRekeyProblems(
    envId,
    { key: old.dek, sealed: { secrets: now.secrets, details: described.details } },
    { key: key.dek, sealed: { secrets, details: details ?? [] } },
  )
  const isTheSame = ({ name }: { name: string }) => !problems.some((one) => one.kind === 'secret' && one.name === name)
  return { ...shown, values: { key, same: now.secrets.filter(isTheSame).length, problems } }
}

const isSame = (a: Holder, b: Holder) => a.principalType === b.principalType && a.principalId === b.principalId
