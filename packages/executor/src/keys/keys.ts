import { decodeBase64url, encodeBase64url } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import {
  exportPrivateKey,
  generateKeyPair,
  importPrivateKey,
  type PrivateKey,
  publicKeyJwkOf,
} from '@skerry/crypto/keys'
import { stateFile } from './state.ts'

/** A key to which credentials are encrypted. */
export interface WrappingKey {
  privateKey: PrivateKey
  publicKeyJwk: string
  /** The thumbprint of RFC 7638. */
  thumbprint: string
}

/** The keys of an executor, the current one first. */
export type Keys = [current: WrappingKey, ...earlier: WrappingKey[]]

interface Stored {
  keys: { privateKey: string; createdAt: string }[]
}

/** The file to back up: without it, nobody can open what people have connected. */
const keysFile = (folder: string) => stateFile<Stored>(folder, 'keys.json')

/**
 * @returns undefined if there are no keys
 * @throws Error that names the file, if it contains anything else.
 */
export async function readKeys(folder: string): Promise<Keys | undefined> {
  const file = keysFile(folder)
  const stored = await file.read()
  if (!stored) return undefined
  try {
    const all = await Promise.all(stored.keys.map(({ privateKey }) => openKey(privateKey)))
    if (all.length > 0) return all as Keys
  } catch {
    // Refused below, because the error of the cryptography would not name the file.
  }
  throw new Error(`${file.path} is damaged: it contains no executor keys`)
}

async function openKey(pkcs8: string): Promise<WrappingKey> {
  const privateKey = await importPrivateKey(decodeBase64url(pkcs8, 'malformed_key'), { extractable: true })
  const publicKeyJwk = publicKeyJwkOf(privateKey)
  return { privateKey, publicKeyJwk, thumbprint: await fingerprint(publicKeyJwk) }
}

/** Creates a key and stores it after the existing ones. It becomes the current one once the server knows it. */
export async function addKey(folder: string): Promise<WrappingKey> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  const { privateKey } = await generateKeyPair()
  const pkcs8 = encodeBase64url(await exportPrivateKey(privateKey))
  await file.write({ keys: [...keys, { privateKey: pkcs8, createdAt: new Date().toISOString() }] })
  return openKey(pkcs8)
}

/** Removes a key that the server has refused. Nothing was ever wrapped to it. */
export async function removeKey(folder: string, { thumbprint }: WrappingKey): Promise<void> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  const opened = await Promise.all(keys.map(({ privateKey }) => openKey(privateKey)))
  await file.write({ keys: keys.filter((_, at) => opened[at]?.thumbprint !== thumbprint) })
}

/** Makes the last key the current one, by putting it first. */
export async function makeLastCurrent(folder: string): Promise<void> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  await file.write({ keys: [...keys.slice(-1), ...keys.slice(0, -1)] })
}

/** The form in which a key is sent to the server. */
export const registered = ({ publicKeyJwk, thumbprint }: WrappingKey) => ({
  jwk: JSON.parse(publicKeyJwk) as object,
  thumbprint,
})
