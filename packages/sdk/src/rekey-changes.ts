import { unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { type Holder, type OwnKeys, type ParentGrantee, type Rekeying, withNewKey } from './rekey-body.ts'
import { findRekeyProblems, type RekeyProblem } from './rekey-compare.ts'
import {
  type ChangeRequest,
  type EnvironmentKey,
  environmentKey,
  environmentKeyOf,
  noted,
  type RememberingHolder,
  type WriteOptions,
} from './secrets.ts'

export type { RekeyProblem } from './rekey-compare.ts'

/**
 * A re-key that waits for approval. A proposed re-key takes effect with the last approval. If something changes before
 * the last approval, the re-key has no effect.
 */
export interface ProposedRekey {
  changeRequest: ChangeRequest
  /** The new key. Before the approval, the new key opens nothing that the server serves. */
  key: EnvironmentKey
  secrets: number
  kept: Holder[]
  readers: Holder[]
  lost: Holder[]
}

/**
 * Proposes a new key for a protected environment. For other environments, `rekeyEnvironment` stores the key at once.
 * The environment keeps its key until enough admins approve. If a secret, a description or a grant changes before
 * that, the proposal is stale. The next approval then closes it, and you propose again. Only one re-key can wait in
 * an environment. A new proposal replaces a stale proposal.
 *
 * @param own the caller's key pair. The caller must hold a grant and be an admin.
 * @param options `note` for the approvers.
 * @throws the errors of `rekeyEnvironment`; RefusedError `conflict` also if the environment is not protected, or if a re-key
 *   waits there already; SkerryError `old_server`.
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

export interface ComparedRekey {
  /** True if something has changed since the proposal. An approval then only closes it. */
  stale: boolean
  /** The holders of the present key who get the new one. Compare their public keys with those that you know. */
  keeps: ParentGrantee[]
  /** The holders of the present key who lose access. */
  loses: ParentGrantee[]
  /** Receivers of the new key whom the server does not list as holders of the present one. An honest server refuses them. */
  strangers: Holder[]
  /** True if the new key is also wrapped to the organization's recovery key. */
  covered: boolean
  /**
   * The comparison of everything that is encrypted. Null if the caller has not both keys: they do not read the environment, or
   * lose access with the re-key.
   */
  values: { key: EnvironmentKey; same: number; problems: RekeyProblem[] } | null
}

/**
 * Compares a proposed re-key with the environment before you approve it. The function decrypts each value with the
 * current key and with the new key. A re-key changes no value. A problem therefore means that the proposer or the
 * server inserted another value.
 *
 * @param place `envId` is the environment of the change.
 * @param privateKey the caller's private key.
 * @throws RefusedError `not_found` for a decided change, or for a change that is not a re-key; SkerryError
 * `old_server`; CryptoError if the caller cannot unwrap the new key; UnavailableError.
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
