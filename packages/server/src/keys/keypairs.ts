import { decodeBase64url, encodeBase64url } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { exportPrivateKey, generateKeyPair, importPrivateKey, type PrivateKey } from '@skerry/crypto/keys'
import { importDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Sql } from '../db/database.ts'
import { fail } from '../kernel/errors.ts'
import { deleteKeypair, findKeypair, insertKeypair, type KeyOwner, type StoredKeypair } from './keypairs-store.ts'
import type { ServerKey } from './server-key.ts'

// The only code of the server that unwraps data that clients wrapped to it. The result stays in memory for one
// operation. It must never be in a row, log, error or job data.

export const brokerOf = (orgId: string): KeyOwner => ({ orgId, purpose: 'broker', id: orgId })
export const rotatorOf = (orgId: string): KeyOwner => ({ orgId, purpose: 'rotator', id: orgId })
export const syncOf = (orgId: string, connectionId: string): KeyOwner => ({ orgId, purpose: 'sync', id: connectionId })

/**
 * An environment's key, unwrapped for one operation. Both functions throw if the blob belongs to another environment or
 * name.
 */
export interface EnvironmentKey {
  open(name: string, ciphertext: string): Promise<string>
  seal(name: string, value: string): Promise<string>
}

export interface Keypairs {
  /** Returns the public half, a JWK as JSON text, for clients to wrap to. The first call creates the key pair. */
  publicKey(db: Sql, owner: KeyOwner): Promise<string>
  /** Unwraps a `wd1.` blob. Returns undefined if it was wrapped to another key or was changed. */
  openWrapped(db: Sql, owner: KeyOwner, blob: string): Promise<Uint8Array | undefined>
  /**
   * Unwraps the key of an environment from a grant to `owner`. Returns undefined as above, and if the content is no
   * such key.
   */
  openEnvironment(
    db: Sql,
    owner: KeyOwner,
    grant: { environmentId: string; wrappedDek: string },
  ): Promise<EnvironmentKey | undefined>
  /** Deletes the key pair, and with it every grant to its owner. */
  destroy(db: Sql, owner: KeyOwner): Promise<void>
}

/** Without a server key, every call refuses with 409 and changes nothing. */
export function openKeypairs(serverKey: ServerKey | null, now: () => Date): Keypairs {
  const needed = (): ServerKey => {
    if (serverKey === null) throw fail('conflict', 'this server has no server key')
    return serverKey
  }
  const openWrapped: Keypairs['openWrapped'] = async (db, owner, blob) => {
    const key = needed()
    const row = await findKeypair(db, owner)
    return row && unlessUnreadable(unwrapKey(blob, await openPrivateKey(key, owner, row)))
  }
  return {
    async publicKey(db, owner) {
      const key = needed()
      const row = (await findKeypair(db, owner)) ?? (await makeKeypair(db, key, owner, now().toISOString()))
      return row.publicKeyJwk
    },
    openWrapped,
    async openEnvironment(db, owner, { environmentId, wrappedDek }) {
      const bytes = await openWrapped(db, owner, wrappedDek)
      const dek = bytes && (await unlessUnreadable(importDek(Uint8Array.from(bytes))))
      return (
        dek && {
          open: (name, ciphertext) => openSecret(ciphertext, dek, environmentId, name),
          seal: (name, value) => sealSecret(value, dek, environmentId, name),
        }
      )
    },
    async destroy(db, owner) {
      await deleteKeypair(db, owner)
    },
  }
}

/** Wraps bytes that the server has created, such as a temporary credential, to the caller who requested them. */
export const wrapTo = (publicKeyJwk: string, bytes: Uint8Array): Promise<string> =>
  wrapKey(Uint8Array.from(bytes), publicKeyJwk)

async function makeKeypair(db: Sql, serverKey: ServerKey, owner: KeyOwner, now: string): Promise<StoredKeypair> {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const pkcs8 = encodeBase64url(await exportPrivateKey(privateKey))
  const made = { publicKeyJwk, sealedPrivateKey: serverKey.seal('keypair', aboutOf(owner), pkcs8) }
  await insertKeypair(db, owner, made, now)
  return (await findKeypair(db, owner)) as StoredKeypair
}

async function openPrivateKey(serverKey: ServerKey, owner: KeyOwner, row: StoredKeypair): Promise<PrivateKey> {
  const pkcs8 = serverKey.open('keypair', aboutOf(owner), row.sealedPrivateKey)
  if (pkcs8 === undefined) throw new Error('the server key does not open a key pair of the server')
  return importPrivateKey(decodeBase64url(pkcs8))
}

const aboutOf = ({ orgId, purpose, id }: KeyOwner): string => `${orgId} ${purpose} ${id}`

const unlessUnreadable = <T>(opened: Promise<T>): Promise<T | undefined> =>
  opened.catch((error) => {
    if (error instanceof CryptoError) return undefined
    throw error
  })
