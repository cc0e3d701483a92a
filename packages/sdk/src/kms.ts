import type { Answer } from '@skerry/contract/endpoint'
import type { kms } from '@skerry/contract/kms/endpoints'
import { type KmsSpec, kmsSpecs } from '@skerry/contract/kms/specs'
import type { Bytes } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import {
  importSealingKey,
  materialFingerprint,
  newDataKey,
  newSealingMaterial,
  openDataKey,
  openManaged,
  type SealingKey,
  sealManaged,
  versionOf,
} from '@skerry/crypto/kms'
import {
  formatSignature,
  importSigningKey,
  newSigningMaterial,
  type SigningKey,
  type SigningSpec,
  signMessage,
  verifyingKeyFingerprint,
} from '@skerry/crypto/kms-sign'
import { openStream, sealStream } from '@skerry/crypto/kms-stream'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { Grantee } from './environment-key.ts'
import { clientError, invalid, SkerryError } from './errors.ts'

export type ManagedKey = Answer<typeof kms.get>['key']

/** Identifies a managed key. */
export interface KeyPlace {
  orgId: string
  kmsKeyId: string
}

/**
 * One version as a server shows it. Clients remember the versions that they have used, because a hostile server could
 * wrap a key of its own. The fingerprint reveals nothing about the key.
 */
export interface ShownVersion {
  keyId: string
  version: number
  fingerprint: string
}

/** The key of one version: its bytes if it encrypts, its public key if it signs. */
export interface OpenedVersion {
  version: number
  bytes?: Bytes | undefined
  publicKeyJwk?: string | undefined
}

/** Compares the shown versions with those seen before or signed, and throws if one of them is another key. */
export type CheckVersions = (
  shown: readonly ShownVersion[],
  currentVersion: number,
  opened: readonly OpenedVersion[],
) => void | Promise<void>

interface Material {
  bytes: Bytes
  publicKeyJwk: string | undefined
  fingerprint: string
}

async function newMaterial(spec: KmsSpec): Promise<Material> {
  if (kmsSpecs[spec].purpose === 'sign') {
    const { pkcs8: bytes, publicKeyJwk } = await newSigningMaterial(spec as SigningSpec)
    return { bytes, publicKeyJwk, fingerprint: await verifyingKeyFingerprint(spec as SigningSpec, publicKeyJwk) }
  }
  const bytes = newSealingMaterial()
  return { bytes, publicKeyJwk: undefined, fingerprint: await materialFingerprint(bytes) }
}

const wrapTo = (bytes: Bytes, grantees: readonly Grantee[]) =>
  Promise.all(
    grantees.map(async ({ principalType, principalId, publicKeyJwk }) => ({
      principalType,
      principalId,
      wrappedKey: await wrapKey(bytes, publicKeyJwk),
    })),
  )

/**
 * Makes a managed key on this machine, wraps it to each grantee, and registers it.
 *
 * @param grantees at least one. Include the caller if the caller will use the key.
 * @throws RefusedError `conflict` (the name is in use), `invalid_request`, `forbidden`; CryptoError `malformed_key`;
 *   UnavailableError.
 * @example
 * const { key } = await createManagedKey(client, { orgId, name: 'billing', spec: 'aes-256-gcm', grantees })
 */
export async function createManagedKey(
  client: Client,
  wish: {
    orgId: string
    name: string
    spec: KmsSpec
    applicationId?: string | undefined
    groupId?: string | undefined
    grantees: readonly Grantee[]
  },
): Promise<{ key: ManagedKey; shown: ShownVersion }> {
  const { orgId, name, spec, applicationId, groupId, grantees } = wish
  const { bytes, publicKeyJwk, fingerprint } = await newMaterial(spec)
  const body = {
    name,
    purpose: kmsSpecs[spec].purpose,
    spec,
    ...(applicationId === undefined ? {} : { applicationId }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(publicKeyJwk === undefined ? {} : { publicKeyJwk }),
    grants: await wrapTo(bytes, grantees),
  }
  const { key } = await client.kms.create({ params: { orgId }, body })
  return { key, shown: { keyId: key.id, version: key.currentVersion, fingerprint } }
}

/**
 * Adds a version, wrapped to each grantee. A holder who is left out can still decrypt what was encrypted before.
 *
 * @throws The errors of `createManagedKey`; RefusedError `conflict` for a disabled key.
 * @example
 * const { key } = await client.kms.get({ params: { orgId, kmsKeyId } })
 * await rotateManagedKey(client, { orgId, key, grantees })
 */
export async function rotateManagedKey(
  client: Client,
  { orgId, key, grantees }: { orgId: string; key: Pick<ManagedKey, 'id' | 'spec'>; grantees: readonly Grantee[] },
): Promise<{ key: ManagedKey; shown: ShownVersion }> {
  const { bytes, publicKeyJwk, fingerprint } = await newMaterial(key.spec)
  const body = { ...(publicKeyJwk === undefined ? {} : { publicKeyJwk }), grants: await wrapTo(bytes, grantees) }
  const answer = await client.kms.rotate({ params: { orgId, kmsKeyId: key.id }, body })
  return { key: answer.key, shown: { keyId: key.id, version: answer.key.currentVersion, fingerprint } }
}

/** The operations of a managed key, with the versions that were granted to the caller. */
export interface OpenedKey {
  readonly keyId: string
  readonly spec: KmsSpec
  readonly currentVersion: number
  /** The versions that the caller has, in ascending order. */
  readonly versions: readonly number[]
  /** Grants the current version to someone. */
  grantTo(grantee: Grantee): Promise<void>
  encrypt(plaintext: Bytes, context?: string): Promise<string>
  decrypt(blob: string, context?: string): Promise<Bytes>
  encryptStream(source: AsyncIterable<Bytes>, context?: string): AsyncIterable<Bytes>
  decryptStream(source: AsyncIterable<Bytes>, context?: string): AsyncIterable<Bytes>
  newDataKey(lengthBytes?: number): Promise<{ plaintext: Bytes; wrapped: string }>
  openDataKey(wrapped: string): Promise<Bytes>
  /** Signs a message and returns `sg1.…`. */
  sign(message: Bytes): Promise<string>
  /** Returns the secret signing key, for code that signs with another library. */
  signingKey(): SigningKey
}

/**
 * Fetches the versions of a managed key that the caller was granted, and unwraps them.
 *
 * Only the current version encrypts and signs. A caller who has only earlier versions can still decrypt what was
 * encrypted under these versions.
 *
 * @param holder the caller's private key, or an object that unwraps keys with a private key stored elsewhere.
 * @param check called with all versions before any of them is used.
 * @throws RefusedError `forbidden` (no grant, or the key is disabled), `not_found`; SkerryError `decryption_failed` for
 *   a grant that is not for this private key; the errors of `check`; UnavailableError. The operations throw CryptoError
 *   `decryption_failed`, and SkerryError `forbidden` for a version that the caller does not have.
 * @example
 * const key = await openManagedKey(client, { orgId, kmsKeyId }, privateKey)
 * const blob = await key.encrypt(encodeUtf8('4111...'), 'customer/17')
 */
export async function openManagedKey(
  client: Client,
  place: KeyPlace,
  holder: KeyHolder,
  check?: CheckVersions,
): Promise<OpenedKey> {
  const { orgId, kmsKeyId: keyId } = place
  const { spec, currentVersion, grants } = await client.kms.own({ params: place })
  if (!Object.hasOwn(kmsSpecs, spec)) throw clientError('malformed_answer', 'it names an unknown key spec')
  const held = await Promise.all(grants.map((one) => openGrant(one, { keyId, spec, holder })))
  held.sort((a, b) => a.shown.version - b.shown.version)
  await check?.(
    held.map(({ shown }) => shown),
    currentVersion,
    held.map(({ shown: { version }, bytes, signing }) => {
      return signing ? { version, publicKeyJwk: signing.publicKeyJwk } : { version, bytes }
    }),
  )
  const checkPurpose = (use: 'sealing' | 'signing') => {
    const needed = use === 'sealing' ? 'encrypt' : 'sign'
    if (kmsSpecs[spec].purpose !== needed) throw new SkerryError('forbidden', `this key cannot be used to ${needed}`)
  }
  const heldAt = <K extends 'sealing' | 'signing'>(use: K, version = currentVersion): NonNullable<Held[K]> => {
    checkPurpose(use)
    const found = held.find(({ shown }) => shown.version === version)?.[use]
    if (!found) throw notHeld(version, version === currentVersion)
    return found
  }
  const sealingOf = (blob: string, prefix: 'ce1' | 'dk1') => {
    const made = versionOf(blob, prefix)
    if (made.keyId !== keyId) throw invalid(`another key, ${made.keyId}, encrypted or signed it`)
    return heldAt('sealing', made.version)
  }
  return {
    keyId,
    spec,
    currentVersion,
    versions: held.map(({ shown }) => shown.version),
    grantTo: async (grantee) => {
      const bytes = held.find(({ shown }) => shown.version === currentVersion)?.bytes
      if (!bytes) throw notHeld(currentVersion, true)
      const [grant] = await wrapTo(bytes, [grantee])
      await client.kms.grant({ params: { orgId, kmsKeyId: keyId }, body: { ...grant!, version: currentVersion } })
    },
    encrypt: async (plaintext, context) => sealManaged(plaintext, heldAt('sealing'), context),
    decrypt: async (blob, context) => openManaged(blob, sealingOf(blob, 'ce1'), context),
    encryptStream: (source, context) => sealStream(source, heldAt('sealing'), context),
    decryptStream: (source, context) =>
      openStream(source, (_, wrapped) => openDataKey(wrapped, sealingOf(wrapped, 'dk1')), context),
    newDataKey: async (lengthBytes) => newDataKey(heldAt('sealing'), lengthBytes),
    openDataKey: async (wrapped) => openDataKey(wrapped, sealingOf(wrapped, 'dk1')),
    sign: async (message) => {
      const key = heldAt('signing')
      return formatSignature(key, await signMessage(message, key))
    },
    signingKey: () => heldAt('signing'),
  }
}

interface Held {
  shown: ShownVersion
  bytes: Bytes
  sealing?: SealingKey
  signing?: SigningKey
}

async function openGrant(
  { version, wrappedKey }: { version: number; wrappedKey: string },
  { keyId, spec, holder }: { keyId: string; spec: KmsSpec; holder: KeyHolder },
): Promise<Held> {
  try {
    const bytes = await unwrapKey(wrappedKey, holder)
    if (spec === 'aes-256-gcm') {
      const sealing = await importSealingKey(bytes, { keyId, version })
      return { shown: { keyId, version, fingerprint: await materialFingerprint(bytes) }, bytes, sealing }
    }
    const signing = await importSigningKey(spec, bytes, { keyId, version })
    const fingerprint = await verifyingKeyFingerprint(spec, signing.publicKeyJwk)
    return { shown: { keyId, version, fingerprint }, bytes, signing }
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new SkerryError('decryption_failed', `version ${version} of the key is not encrypted for this private key`)
  }
}

const notHeld = (version: number, isCurrent: boolean) =>
  new SkerryError('forbidden', `you do not hold version ${version} of this key${isCurrent ? ', the current one' : ''}`)

/** Public keys of a key that signs. */
export interface VerifyingKeys {
  readonly spec: SigningSpec
  readonly keys: readonly (ShownVersion & { publicKeyJwk: string })[]
}

/**
 * Fetches the public keys of every version. The server supplies them: `check` compares them with those seen before.
 *
 * @throws RefusedError `not_found`, `invalid_request` for a key that encrypts; CryptoError `malformed_key`; the errors
 *   of `check`; UnavailableError.
 * @example const keys = await verifyingKeys(client, { orgId, kmsKeyId })
 */
export async function verifyingKeys(client: Client, place: KeyPlace, check?: CheckVersions): Promise<VerifyingKeys> {
  const answer = await client.kms.public({ params: place })
  const spec = answer.spec as SigningSpec
  if (kmsSpecs[spec]?.purpose !== 'sign') throw clientError('malformed_answer', 'the key is not a signing key')
  const keys = await Promise.all(
    answer.keys.map(async ({ version, publicKeyJwk }) => ({
      keyId: place.kmsKeyId,
      version,
      publicKeyJwk,
      fingerprint: await verifyingKeyFingerprint(spec, publicKeyJwk),
    })),
  )
  await check?.(keys, answer.currentVersion, keys)
  return { spec, keys }
}
