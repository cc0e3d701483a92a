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

/** A key to which credentials are wrapped. */
export interface WrappingKey {
  privateKey: PrivateKey
  publicKeyJwk: string
  /** RFC 7638. */
  thumbprint: string
}

/** The keys of an executor, the current one first. */
export type Keys = [current: WrappingKey, ...earlier: WrappingKey[]]

interface Stored {
  keys: { privateKey: string; createdAt: string }[]
}

/** The file to keep a copy of: without it nobody can open what people have connected. */
const keysFile = (folder: string) => stateFile<Stored>(folder, 'keys.json')

/**
 * @returns undefined where there are none
 * @throws Error that names the file, for one that holds something else.
 */
export async function readKeys(folder: string): Promise<Keys | undefined> {
  const file = keysFile(folder)
  const stored = await file.read()
  if (!stored) return undefined
  try {
    const all = await Promise.all(stored.keys.map(({ privateKey }) => openKey(privateKey)))
    if (all.length > 0) return all as Keys
  } catch {
    // Refused below: the words of the cryptography would name no file.
  }
  throw new Error(`${file.path} is damaged: it holds no keys of an executor`)
}

async function openKey(pkcs8: string): Promise<WrappingKey> {
  const privateKey = await importPrivateKey(decodeBase64url(pkcs8, 'malformed_key'), { extractable: true })
  const publicKeyJwk = publicKeyJwkOf(privateKey)
  return { privateKey, publicKeyJwk, thumbprint: await fingerprint(publicKeyJwk) }
}

/** Makes a key and keeps it behind those that there are: it is the current one only once the server knows it. */
export async function addKey(folder: string): Promise<WrappingKey> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  const { privateKey } = await generateKeyPair()
  const pkcs8 = encodeBase64url(await exportPrivateKey(privateKey))
  await file.write({ keys: [...keys, { privateKey: pkcs8, createdAt: new Date().toISOString() }] })
  return openKey(pkcs8)
}

/** Takes a key back that the server has refused: nothing was ever wrapped to it. */
export async function removeKey(folder: string, { thumbprint }: WrappingKey): Promise<void> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  const opened = await Promise.all(keys.map(({ privateKey }) => openKey(privateKey)))
  await file.write({ keys: keys.filter((_, at) => opened[at]?.thumbprint !== thumbprint) })
}

/** Puts the last key first. */
export async function makeLastCurrent(folder: string): Promise<void> {
  const file = keysFile(folder)
  const { keys = [] } = (await file.read()) ?? {}
  await file.write({ keys: [...keys.slice(-1), ...keys.slice(0, -1)] })
}

/** How the server is told of a key. */
export const registered = ({ publicKeyJwk, thumbprint }: WrappingKey) => ({
  jwk: JSON.parse(publicKeyJwk) as object,
  thumbprint,
})
