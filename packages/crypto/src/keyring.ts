import { type Bytes, decodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob, splitBlob } from './blob.ts'
import { fingerprint } from './digest.ts'
import { CryptoError } from './errors.ts'
import { importAesKey, openGcm, sealGcm } from './gcm.ts'
import { hkdf } from './hkdf.ts'
import { exportPrivateKey, importPrivateKey, type PrivateKey, publicKeyJwkOf } from './keys.ts'
import { parseKitCode } from './kit-code.ts'
import { randomBytes } from './random.ts'

/** The cost of an Argon2id run (RFC 9106). Lanes are computed one after the other here, so they add no speed. */
export interface PassphraseCost {
  memoryKiB: number
  passes: number
  lanes: number
}

/** RFC 9106 section 4, the second recommended option, with one lane. It takes less than a second on a small machine. */
export const defaultPassphraseCost: PassphraseCost = { memoryKiB: 65_536, passes: 3, lanes: 1 }

/** The lowest cost that is opened or made (OWASP's minimum). A server must not be able to make guessing cheap. */
const floor: PassphraseCost = { memoryKiB: 19_456, passes: 2, lanes: 1 }

/** The highest cost that is opened. A server must not be able to freeze or exhaust the machine that signs in. */
const ceiling: PassphraseCost = { memoryKiB: 1_048_576, passes: 20, lanes: 16 }
const workMaxKiB = 4 * 1_048_576

/** A shorter passphrase is refused when a key is sealed; see {@link passphraseProblem}. */
const passphraseMinCharacters = 12

const saltLengthBytes = 16
/** A passkey's PRF (WebAuthn, extension `prf`) is an HMAC-SHA-256. */
const prfOutputLengthBytes = 32

/** If this label changes, every key that is sealed under a passkey becomes unreadable. */
const passkeyInfo = 'skerry/keyring/passkey/v1'
/** The same for keys that are sealed under the code of a recovery kit. */
const kitInfo = 'skerry/keyring/recovery-kit/v1'

interface OpenOptions {
  /** Whether the private key can be exported again, to seal it in another way. Default: false. */
  extractable?: boolean
}

/**
 * Returns why a passphrase is too weak to seal a key under, in words for the person; null if the passphrase is strong
 * enough. Length matters most: the server has the sealed key and can guess for as long as it likes.
 *
 * @example passphraseProblem('short') // 'at least 12 characters'
 */
export function passphraseProblem(passphrase: string): string | null {
  const characters = [...passphrase.normalize('NFKC').trim()]
  if (characters.length < passphraseMinCharacters) return `at least ${passphraseMinCharacters} characters`
  if (new Set(characters).size < 5) return 'at least 5 different characters'
  return null
}

/**
 * Seals a private key under a passphrase: `pk1.<memoryKiB>-<passes>-<lanes>.<salt>.<iv>.<ciphertext and tag>`. Argon2id
 * derives the AES-256-GCM key from the passphrase's NFKC form, so that it opens on every keyboard. The user's id is
 * authenticated, so that one user's sealed key cannot replace another's.
 *
 * @param privateKey must be exportable.
 * @throws CryptoError `weak_passphrase`, `kdf_too_weak`, `kdf_too_strong`, `malformed_text`, `invalid_argument`.
 * @example const encryptedPrivateKey = await sealWithPassphrase(privateKey, passphrase, userId)
 */
export async function sealWithPassphrase(
  privateKey: PrivateKey,
  passphrase: string,
  userId: string,
  cost: PassphraseCost = defaultPassphraseCost,
): Promise<string> {
  if (passphraseProblem(passphrase) !== null) throw new CryptoError('weak_passphrase')
  checkCost(cost)
  const salt = randomBytes(saltLengthBytes)
  const key = await passphraseKey(passphrase, salt, cost)
  const { iv, ciphertext } = await sealGcm(key, await exportPrivateKey(privateKey), passphraseAad(userId))
  return formatBlob('pk1', [`${cost.memoryKiB}-${cost.passes}-${cost.lanes}`, salt, iv, ciphertext])
}

/**
 * Opens a key that {@link sealWithPassphrase} sealed. Parameters below the minimum (19456-2-1), or too costly for any
 * machine, are refused before anything is computed.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `kdf_too_weak`, `kdf_too_strong`, `decryption_failed`
 *   (wrong passphrase, another user's key or altered bytes, which cannot be told apart), `malformed_key`,
 *   `malformed_text`.
 * @example const privateKey = await openWithPassphrase(blob, passphrase, userId)
 */
export async function openWithPassphrase(
  blob: string,
  passphrase: string,
  userId: string,
  options: OpenOptions = {},
): Promise<PrivateKey> {
  const [parameters, ...texts] = splitBlob(blob, 'pk1')
  const [salt, iv, ciphertext] = texts.map((text) => decodeBase64url(text, 'malformed_blob')) as [Bytes, Bytes, Bytes]
  const cost = parseCost(parameters!)
  checkSalt(salt)
  const key = await passphraseKey(passphrase, salt, cost)
  return importPrivateKey(await openGcm(key, iv, ciphertext, passphraseAad(userId)), options)
}

/**
 * Seals a private key under a passkey: `pk2.<salt>.<iv>.<ciphertext and tag>`. HKDF-SHA256 derives the AES-256-GCM key
 * from the PRF's output. The ids of the user and of the credential are authenticated.
 *
 * @param prfOutput 32 bytes, the PRF extension's result for the `prfInput` that is stored beside the blob.
 * @param credentialId base64url, as the browser gives it.
 * @throws CryptoError `invalid_argument`.
 * @example const encryptedPrivateKey = await sealWithPasskey(privateKey, prfOutput, userId, 'q1xZt8')
 */
export async function sealWithPasskey(
  privateKey: PrivateKey,
  prfOutput: Bytes,
  userId: string,
  credentialId: string,
): Promise<string> {
  const salt = randomBytes(saltLengthBytes)
  const key = await passkeyKey(prfOutput, salt)
  const aad = passkeyAad(userId, credentialId)
  const { iv, ciphertext } = await sealGcm(key, await exportPrivateKey(privateKey), aad)
  return formatBlob('pk2', [salt, iv, ciphertext])
}

/**
 * Opens a key that {@link sealWithPasskey} sealed.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` (another passkey, user or credential,
 *   altered bytes), `malformed_key`, `invalid_argument`.
 * @example const privateKey = await openWithPasskey(blob, prfOutput, userId, 'q1xZt8')
 */
export async function openWithPasskey(
  blob: string,
  prfOutput: Bytes,
  userId: string,
  credentialId: string,
  options: OpenOptions = {},
): Promise<PrivateKey> {
  const [salt, iv, ciphertext] = parseBlob(blob, 'pk2') as [Bytes, Bytes, Bytes]
  checkSalt(salt)
  const key = await passkeyKey(prfOutput, salt)
  return importPrivateKey(await openGcm(key, iv, ciphertext, passkeyAad(userId, credentialId)), options)
}

/**
 * Seals a private key under the code of a recovery kit: `pk3.<salt>.<iv>.<ciphertext and tag>`. HKDF-SHA256 derives the
 * AES-256-GCM key from the 128 random bits of the code. The user's id and the fingerprint of the public key are
 * authenticated, so that the blob opens for this person and this key pair only.
 *
 * @param privateKey must be exportable.
 * @param code of `newKitCode`, in any spelling that `parseKitCode` reads.
 * @throws CryptoError `malformed_code`, `invalid_argument`.
 * @example const encryptedPrivateKey = await sealWithKitCode(privateKey, kitCode, userId)
 */
export async function sealWithKitCode(privateKey: PrivateKey, code: string, userId: string): Promise<string> {
  const salt = randomBytes(saltLengthBytes)
  const key = await kitKey(code, salt)
  const aad = await kitAad(userId, publicKeyJwkOf(privateKey))
  const { iv, ciphertext } = await sealGcm(key, await exportPrivateKey(privateKey), aad)
  return formatBlob('pk3', [salt, iv, ciphertext])
}

/**
 * Opens a key that {@link sealWithKitCode} sealed.
 *
 * @param code as the person typed it.
 * @param whose the person, and the public key that the keyring has now.
 * @throws CryptoError `malformed_code` (mistyped), `unsupported_prefix`, `malformed_blob`, `decryption_failed` (the code
 *   of another kit, another user or key pair, altered bytes), `malformed_key`, `invalid_argument`.
 * @example const privateKey = await openWithKitCode(blob, kitCode, { userId, publicKeyJwk })
 */
export async function openWithKitCode(
  blob: string,
  code: string,
  whose: { userId: string; publicKeyJwk: string },
  options: OpenOptions = {},
): Promise<PrivateKey> {
  const [salt, iv, ciphertext] = parseBlob(blob, 'pk3') as [Bytes, Bytes, Bytes]
  checkSalt(salt)
  const key = await kitKey(code, salt)
  const aad = await kitAad(whose.userId, whose.publicKeyJwk)
  return importPrivateKey(await openGcm(key, iv, ciphertext, aad), options)
}

/** Parses the parameters of a cost. Each cost has one spelling: no sign, no leading zero. */
function parseCost(text: string): PassphraseCost {
  const [, memoryKiB, passes, lanes] = /^([1-9]\d{0,8})-([1-9]\d{0,8})-([1-9]\d{0,8})$/.exec(text) ?? []
  if (lanes === undefined)
    throw new CryptoError('malformed_blob', 'expected parameters of the form <memoryKiB>-<passes>-<lanes>')
  const cost = { memoryKiB: Number(memoryKiB), passes: Number(passes), lanes: Number(lanes) }
  checkCost(cost)
  return cost
}

function checkCost({ memoryKiB, passes, lanes }: PassphraseCost): void {
  if (![memoryKiB, passes, lanes].every(Number.isSafeInteger))
    throw new CryptoError('invalid_argument', 'expected whole numbers')
  if (memoryKiB < floor.memoryKiB || passes < floor.passes || lanes < floor.lanes) throw new CryptoError('kdf_too_weak')
  const beyond = memoryKiB > ceiling.memoryKiB || passes > ceiling.passes || lanes > ceiling.lanes
  if (beyond || memoryKiB * passes > workMaxKiB) throw new CryptoError('kdf_too_strong')
}

function checkSalt(salt: Bytes): void {
  if (salt.length !== saltLengthBytes) throw new CryptoError('malformed_blob', 'a salt must have 16 bytes')
}

async function passphraseKey(passphrase: string, salt: Bytes, cost: PassphraseCost): Promise<CryptoKey> {
  if (typeof passphrase !== 'string' || passphrase === '')
    throw new CryptoError('invalid_argument', 'expected a passphrase')
  const password = encodeUtf8(passphrase.normalize('NFKC'))
  // The Argon2id library is loaded only when needed: it is the only WebAssembly of this package, and most programs
  // never open a keyring.
  const { argon2id } = await import('hash-wasm')
  const { memoryKiB: memorySize, passes: iterations, lanes: parallelism } = cost
  const settings = { memorySize, iterations, parallelism, hashLength: 32, outputType: 'binary' } as const
  const bytes = await argon2id({ password, salt, ...settings })
  return importAesKey(new Uint8Array(bytes))
}

async function passkeyKey(prfOutput: Bytes, salt: Bytes): Promise<CryptoKey> {
  if (prfOutput.length !== prfOutputLengthBytes)
    throw new CryptoError('invalid_argument', 'a PRF output must have 32 bytes')
  return importAesKey(await hkdf(prfOutput, salt, passkeyInfo, 32))
}

const kitKey = async (code: string, salt: Bytes): Promise<CryptoKey> =>
  importAesKey(await hkdf(await parseKitCode(code), salt, kitInfo, 32))

const passphraseAad = (userId: string): Bytes => encodeUtf8(`skerry/pk1/${plain(userId)}`)
const passkeyAad = (userId: string, credentialId: string): Bytes =>
  encodeUtf8(`skerry/pk2/${plain(userId)}/${plain(credentialId)}`)

const kitAad = async (userId: string, publicKeyJwk: string): Promise<Bytes> =>
  encodeUtf8(`skerry/pk3/${plain(userId)}/${await fingerprint(publicKeyJwk)}`)

/** Refuses a slash in an id, because two different pairs of ids could then have the same AAD. */
function plain(id: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(id)) return id
  throw new CryptoError('invalid_argument', 'expected an id of letters, digits, _ and -')
}
