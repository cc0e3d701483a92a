import { createCipheriv, createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto'
import { bytes, gcm, keyOf, unwrap } from './published-client.ts'

// Uses managed keys as published clients do, written from the wire formats alone: `ce1.`, `dk1.` and `sg1.`.

/** The server and the organization of a client, with the token that it sends whole. */
export interface PublishedPlace {
  url: string
  token: string
  orgId: string
}

/** A managed key as the holder of a service token sees it. */
export interface PublishedKey {
  keyId: string
  currentVersion: number
  /** The key material that was wrapped to the token, by version: 32 bytes, or PKCS8. */
  material: Map<number, Buffer>
}

/** Reads the versions that were granted to a token, and unwraps each with the private key in the token. */
export async function readKey(place: PublishedPlace, keyId: string): Promise<PublishedKey> {
  const answer = await read(place, `${keyId}/key`)
  const { currentVersion, grants } = answer as {
    currentVersion: number
    grants: { version: number; wrappedKey: string }[]
  }
  const key = keyOf(place.token)
  const material = new Map(grants.map(({ version, wrappedKey }) => [version, unwrap(wrappedKey, key)]))
  return { keyId, currentVersion, material }
}

async function read({ url, token, orgId }: PublishedPlace, path: string): Promise<unknown> {
  const response = await fetch(`${url}/v1/orgs/${orgId}/kms/keys/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  return response.json()
}

const aadOf = (prefix: 'ce1' | 'dk1', keyId: string, version: string | number, context: string) =>
  Buffer.from(prefix === 'ce1' ? `${keyId}/${version}/${context}` : `${keyId}/${version}`)

function materialOf({ keyId, material }: PublishedKey, of: string, version: string): Buffer {
  const found = material.get(Number(version))
  if (of !== keyId || !found) throw new Error('another key, or a version that was not granted')
  return found
}

/** Opens a `ce1.` or `dk1.` blob. */
export function openSealed(blob: string, key: PublishedKey, context = ''): Buffer {
  const parts = blob.split('.')
  const [prefix, keyId, version, iv, sealed] = parts as [string, string, string, string, string]
  if ((prefix !== 'ce1' && prefix !== 'dk1') || parts.length !== 5 || bytes(iv).length !== 12)
    throw new Error(`not a ciphertext of a managed key: ${prefix}`)
  return gcm(materialOf(key, keyId, version), bytes(iv), bytes(sealed), aadOf(prefix, keyId, version, context))
}

/** Makes a `ce1.` or `dk1.` blob with the current version. */
export function makeSealed(prefix: 'ce1' | 'dk1', plaintext: Buffer, key: PublishedKey, context = ''): string {
  const { keyId, currentVersion } = key
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', materialOf(key, keyId, String(currentVersion)), iv)
  cipher.setAAD(aadOf(prefix, keyId, currentVersion, context))
  const sealed = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return [prefix, keyId, currentVersion, iv.toString('base64url'), sealed.toString('base64url')].join('.')
}

/**
 * Makes an `sg1.` signature: ECDSA over the SHA-256 of the message, as r
 * s.
 */
export function makeSignature(message: Buffer, key: PublishedKey): string {
  const { keyId, currentVersion } = key
  const pkcs8 = materialOf(key, keyId, String(currentVersion))
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const signature = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `sg1.${keyId}.${currentVersion}.${signature.toString('base64url')}`
}

/** Whether an `sg1.` signature is valid for this message, by the public key of its version. */
export async function isSigned(blob: string, message: Buffer, place: PublishedPlace): Promise<boolean> {
  const [prefix, keyId, version, signature] = blob.split('.') as [string, string, string, string]
  if (prefix !== 'sg1' || bytes(signature).length !== 64) throw new Error(`not a signature: ${prefix}`)
  const answer = await read(place, `${keyId}/public`)
  const { keys } = answer as { keys: { version: number; publicKeyJwk: string }[] }
  const { publicKeyJwk } = keys.find((one) => one.version === Number(version)) as (typeof keys)[0]
  const publicKey = createPublicKey({ key: JSON.parse(publicKeyJwk), format: 'jwk' })
  return verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes(signature))
}
