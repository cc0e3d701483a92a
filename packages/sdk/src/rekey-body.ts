import type { Answer, Body } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs/endpoints'
import { isReader } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
import type { rekey } from '@skerry/contract/rekey/endpoints'
import { formatPublicKeyJwk, parsePublicKeyJwk } from '@skerry/crypto/keys'
import { newDek, openSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import {
  type EnvironmentKey,
  type EnvironmentPlace,
  environmentKey,
  environmentKeyOf,
  type RememberingHolder,
} from './environment-key.ts'
import { clientError, DecryptionError, invalid, RefusedError, SkerryError } from './errors.ts'
import { resealDetails } from './secret-details.ts'
import { sealFor } from './secrets.ts'

/**
 * A reader of an environment, in a response of the server. The SDK wraps a new key for the public key of the reader
 * (`publicKeyJwk`).
 */
export type ParentGrantee = Answer<typeof envs.grantees>['grantees'][number]

/** The settings of a re-key: the environment, and a function that decides who keeps access. */
export interface Rekeying extends EnvironmentPlace {
  /**
   * The public recovery key of the organization, if the organization has one. The function then also wraps the new
   * environment key for the recovery key, so that custodians can recover it. The recovery key comes from the server, so
   * a hostile server could send its own key. Give only a key whose words somebody has compared.
   */
  recoveryPublicKeyJwk?: string
  /**
   * Decides for each reader of the environment whether this reader gets the new key. The list of readers comes from the
   * server, and a hostile server could add a reader of its own. Accept only readers whose id and public key you know.
   *
   * The list includes readers that are part of the server: the rotator, which replaces values, and sync connections,
   * which push values to other services. If such a reader gets the new key, the server can read the environment.
   * `isReader` of `@skerry/contract/grants/readers` recognises these readers. The SDK does not call `keeps` for the
   * caller, who always gets the new key.
   */
  keeps: (grantee: ParentGrantee) => boolean
  /**
   * If true, the re-key also renews the manifests of the environment's branches. Set this to true if the organization
   * has a signed directory, because clients then check each branch with its manifest. Default: false.
   */
  manifests?: boolean
  /**
   * The maximum number of attempts. If somebody changes the environment during an attempt, the SDK starts another
   * attempt. After the last attempt, it throws `conflict`. Default: 5.
   */
  attempts?: number
}

/** Identifies a principal that has the key of an environment. */
export interface Holder {
  principalType: string
  principalId: string
}

/** A new key for an environment, and the request body with everything encrypted with it. Nothing is sent yet. */
export interface PreparedRekey {
  body: Body<typeof rekey.run>
  key: EnvironmentKey
  kept: Holder[]
  readers: Holder[]
  lost: Holder[]
}

/** The key pair of the caller. */
export interface OwnKeys {
  /** The private key, with which the function unwraps the present environment key. */
  privateKey: RememberingHolder
  /** The public key of the same key pair, a JWK as a JSON string. */
  publicKeyJwk: string
}

/**
 * Makes a new key, encrypts everything with it, and calls `send` with the result. Starts again if something changed
 * meanwhile. It makes at most `attempts` attempts.
 */
export async function withNewKey<Sent>(
  client: Client,
  place: Rekeying,
  own: OwnKeys,
  send: (prepared: PreparedRekey) => Promise<Sent>,
): Promise<Sent> {
  for (let left = place.attempts ?? 5; ; left--) {
    try {
      return await send(await prepareRekey(client, place, own))
    } catch (error) {
      // A secret that was read while another re-key ran may not decrypt. A second attempt shows whether that was the
      // cause.
      const mayPass = error instanceof DecryptionError || (error instanceof RefusedError && error.code === 'conflict')
      if (left <= 1 || !mayPass) throw error
    }
  }
}

async function prepareRekey(
  client: Client,
  { orgId, envId, recoveryPublicKeyJwk, keeps, manifests }: Rekeying,
  own: OwnKeys,
): Promise<PreparedRekey> {
  const params = { orgId, envId }
  const [{ principal }, old, { secrets }, { grantees }, { grants: held }] = await Promise.all([
    client.me.get(),
    environmentKey(client, params, own.privateKey),
    client.secrets.list({ params }),
    client.envs.grantees({ params }),
    client.grants.list({ params }),
  ])
  const isCaller = callerAmong(grantees, { ...principal, publicKeyJwk: own.publicKeyJwk })
  const kept = grantees.filter((one) => isCaller(one) || keeps(one))
  if (!kept.some(isCaller)) throw new SkerryError('conflict', 'the server does not list you as a holder of this key')
  if (secrets.length > limits.rekeySecretsMax)
    throw invalid(`at most ${limits.rekeySecretsMax} secrets can be re-encrypted at once`)
  if (kept.length > limits.rekeyGrantsMax)
    throw invalid(`the new key can be given to at most ${limits.rekeyGrantsMax} holders at once`)

  await requireSignedReaders(client, orgId, kept, own)
  const key = await environmentKeyOf(newDek())
  const expectedVersions = Object.fromEntries(secrets.map(({ name, version }) => [name, version]))
  const resealed = await Promise.all(secrets.map((secret) => reseal(secret, old, key)))
  const details = await resealDetails(client, params, old, key)
  const grants = await Promise.all(
    kept.map(async (one) => ({ ...holderOf(one), wrappedDek: await wrapKey(key.bytes, one.publicKeyJwk) })),
  )
  const recovery =
    recoveryPublicKeyJwk === undefined ? {} : { recoveryWrappedDek: await wrapKey(key.bytes, recoveryPublicKeyJwk) }
  const dropReaders = grantees
    .filter(isReader)
    .filter((one) => !kept.includes(one))
    .map(holderOf)
  const dropped = dropReaders.length > 0 ? { dropReaders } : {}
  const renewed = manifests ? { manifests: await renew(client, params, { old, key, own }) } : {}
  const described = details === undefined ? {} : { details }
  const stays = (one: Holder) => grants.some((grant) => grant.principalId === one.principalId)
  return {
    body: { expectedVersions, grants, secrets: resealed, ...described, ...dropped, ...recovery, ...renewed },
    key,
    kept: kept.map(holderOf),
    readers: kept.filter(isReader).map(holderOf),
    lost: held.filter((one) => !stays(one)).map(holderOf),
  }
}

async function requireSignedReaders(client: Client, orgId: string, kept: readonly ParentGrantee[], own: OwnKeys) {
  const { directory } = own.privateKey
  if (directory) await (await import('./directory/receivers.ts')).requireReaders(client, orgId, kept, directory)
}

type Keys = { old: EnvironmentKey; key: EnvironmentKey; own: OwnKeys }

async function renew(client: Client, place: EnvironmentPlace, { old, key, own }: Keys) {
  const { renewManifests } = await import('./directory/manifests.ts')
  return renewManifests(client, place, { old: old.bytes, next: key.bytes, holder: own.privateKey })
}

/**
 * Returns a test that recognises the caller among the grantees by the caller's own public key, which no answer can
 * replace. The server supplies the caller's id, so a grantee with that id and another key is refused. `reads` or
 * `keeps` decides about every other id.
 *
 * @throws SkerryError `own_key_replaced`.
 */
export function callerAmong(grantees: readonly ParentGrantee[], caller: { id: string; publicKeyJwk: string }) {
  const own = publicKeyText(caller.publicKeyJwk)
  const isCaller = ({ publicKeyJwk }: ParentGrantee) => publicKeyText(publicKeyJwk) === own
  if (grantees.some((one) => one.principalId === caller.id && !isCaller(one))) throw clientError('own_key_replaced')
  return isCaller
}

/** Normalizes a public key for comparison, because a server may order its fields in any way. */
const publicKeyText = (publicKeyJwk: string) => formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))

const holderOf = <T extends string>(one: { principalType: T; principalId: string }) => ({
  principalType: one.principalType,
  principalId: one.principalId,
})

async function reseal(
  { environmentId, name, ciphertext }: { environmentId: string; name: string; ciphertext: string },
  old: EnvironmentKey,
  key: EnvironmentKey,
): Promise<{ name: string; ciphertext: string }> {
  const value = await openSecret(ciphertext, old.dek, environmentId, name).catch(() => {
    throw new DecryptionError(environmentId, name)
  })
  return { name, ciphertext: await sealFor(environmentId, name, value, key.dek) }
}
