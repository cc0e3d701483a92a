import { type Bytes, decodeBase64url, encodeUtf8 } from './base64url.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'

/**
 * The statement that a server has signed about an audit log: the number of its entries, and the hash over all of them.
 */
export interface Checkpoint {
  /** The audit log: `skerry/<orgId>`. */
  origin: string
  size: number
  root: Bytes
}

const ed25519 = 1
/** The longest text that is read as a checkpoint: longer than any real one, and short enough to read quickly. */
const noteCharactersMax = 4096

/**
 * Reads a checkpoint (C2SP tlog-checkpoint) and checks its signature (C2SP signed-note, Ed25519).
 *
 * @param publicKey the 32 bytes of the server's key
 * @param origin the audit log that it must be about: `skerry/<orgId>`
 * @throws CryptoError `malformed_checkpoint`; `other_checkpoint_key` if it names other keys; `unsigned_checkpoint` if it
 *   names this key, which did not sign it.
 */
export async function openCheckpoint(note: string, publicKey: Bytes, origin: string): Promise<Checkpoint> {
  const end = note.indexOf('\n\n')
  if (end < 0 || note.length > noteCharactersMax || !note.endsWith('\n')) throw new CryptoError('malformed_checkpoint')
  const text = note.slice(0, end + 1)
  const checkpoint = parseText(text)
  if (checkpoint.origin !== origin)
    throw new CryptoError('malformed_checkpoint', 'it is a checkpoint of another audit log')
  const lines = note.slice(end + 2, -1).split('\n')
  const keyHash = await hashOfKey(origin, publicKey)
  let isNamed = false
  for (const line of lines) {
    const [, name, encoded] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? []
    if (name === undefined || encoded === undefined) throw new CryptoError('malformed_checkpoint')
    const bytes = decodeBase64(encoded)
    const isOurs = name === origin && bytes.length === 68 && keyHash.every((byte, index) => byte === bytes[index])
    if (isOurs && (await isSigned(text, bytes.slice(4), publicKey))) return checkpoint
    isNamed ||= isOurs
  }
  throw new CryptoError(isNamed ? 'unsigned_checkpoint' : 'other_checkpoint_key')
}

function parseText(text: string): Checkpoint {
  const [origin = '', size = '', root = ''] = text.split('\n')
  if (!/^(0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)))
    throw new CryptoError('malformed_checkpoint')
  const hash = decodeBase64(root)
  if (hash.length !== 32) throw new CryptoError('malformed_checkpoint')
  return { origin, size: Number(size), root: hash }
}

/** The key hash by which a note names the signer of a line. */
const hashOfKey = async (name: string, publicKey: Bytes): Promise<Bytes> =>
  (await sha256(Uint8Array.of(...encodeUtf8(`${name}\n`), ed25519, ...publicKey))).slice(0, 4)

async function isSigned(text: string, signature: Bytes, publicKey: Bytes): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signature, encodeUtf8(text))
}

/** Decodes base64 (RFC 4648, with padding) in its only valid spelling. @throws CryptoError `malformed_checkpoint`. */
export function decodeBase64(text: string): Bytes {
  const bare = text.replace(/={0,2}$/, '')
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(bare)) throw new CryptoError('malformed_checkpoint')
  return decodeBase64url(bare.replaceAll('+', '-').replaceAll('/', '_'), 'malformed_checkpoint')
}
