import { type Bytes, decodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob, splitBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { importAesKey, openGcm, sealGcm } from './gcm.ts'
import { hkdf } from './hkdf.ts'
import { exportPrivateKey, importPrivateKey, type PrivateKey } from './keys.ts'
import { randomBytes } from './random.ts'

/** What an Argon2id run costs (RFC 9106). Lanes are computed one after the other here, so they add no speed. */
export interface PassphraseCost {
  memoryKiB: number
  passes: number
  lanes: number
}

/** RFC 9106 section 4, the second recommended option, with one lane: below a second on a small machine. */
export const defaultPassphraseCost: PassphraseCost = { memoryKiB: 65_536, passes: 3, lanes: 1 }

/** The least that is opened or made (OWASP's minimum): what a server sends must not make guessing cheap. */
const floor: PassphraseCost = { memoryKiB: 19_456, passes: 2, lanes: 1 }

/** The most that is opened: what a server sends must not freeze or exhaust the machine that signs in. */
const ceiling: PassphraseCost = { memoryKiB: 1_048_576, passes: 20, lanes: 16 }
const workMaxKiB = 4 * 1_048_576

/** Fewer characters are refused when a key is sealed; see {@link passphraseProblem}. */
const passphraseMinCharacters = 12

const saltLengthBytes = 16
/** HMAC-SHA-256 is what a passkey's PRF is made of (WebAuthn, extension `prf`). */
const prfOutputLengthBytes = 32

/** Changing it makes every key sealed under a passkey unreadable. */
const passkeyInfo = 'skerry/keyring/passkey/v1'

interface OpenOptions {
  /** Whether the private key can be exported again, to be sealed under something else; false unless said. */
  extractable?: boolean
}

/**
 * Why a passphrase is too weak to seal a key under, in words for the person; null when it will do. Length is what
 * counts: the server has the sealed key and can guess for as long as it likes.
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
 * over the passphrase's NFKC form, so that it opens on every keyboard, gives the AES-256-GCM key; the user's id is
 * authenticated, so that nobody's sealed key passes for another's.
 *
 * @param privateKey one that can be exported.
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
 * Opens what {@link sealWithPassphrase} made. Parameters below the floor (19456-2-1) or above what a machine should be
 * asked for are refused before anything is computed.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `kdf_too_weak`, `kdf_too_strong`, `decryption_failed`
 *   (wrong passphrase, another user's key, altered bytes: which, nobody can tell), `malformed_key`, `malformed_text`.
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
 * Seals a private key under a passkey: `pk2.<salt>.<iv>.<ciphertext and tag>`. HKDF-SHA256 over the PRF's output gives
 * the AES-256-GCM key; the user's id and the credential's are authenticated.
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
 * Opens what {@link sealWithPasskey} made.
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

/** One spelling per cost: no sign, no leading zero. */
function parseCost(text: string): PassphraseCost {
  const [, memoryKiB, passes, lanes] = /^([1-9]\d{0,8})-([1-9]\d{0,8})-([1-9]\d{0,8})$/.exec(text) ?? []
  if (lanes === undefined) throw new CryptoError('malformed_blob', 'parameters are <memoryKiB>-<passes>-<lanes>')
  const cost = { memoryKiB: Number(memoryKiB), passes: Number(passes), lanes: Number(lanes) }
  checkCost(cost)
  return cost
}

function checkCost({ memoryKiB, passes, lanes }: PassphraseCost): void {
  if (![memoryKiB, passes, lanes].every(Number.isSafeInteger))
    throw new CryptoError('invalid_argument', 'whole numbers')
  if (memoryKiB < floor.memoryKiB || passes < floor.passes || lanes < floor.lanes) throw new CryptoError('kdf_too_weak')
  const beyond = memoryKiB > ceiling.memoryKiB || passes > ceiling.passes || lanes > ceiling.lanes
  if (beyond || memoryKiB * passes > workMaxKiB) throw new CryptoError('kdf_too_strong')
}

function checkSalt(salt: Bytes): void {
  if (salt.length !== saltLengthBytes) throw new CryptoError('malformed_blob', 'a salt has 16 bytes')
}

async function passphraseKey(passphrase: string, salt: Bytes, cost: PassphraseCost): Promise<CryptoKey> {
  if (typeof passphrase !== 'string' || passphrase === '') throw new CryptoError('invalid_argument', 'a passphrase')
  const password = encodeUtf8(passphrase.normalize('NFKC'))
  // Loaded when it is needed: it is the only WebAssembly here, and most programs never open a keyring.
  const { argon2id } = await import('hash-wasm')
  const { memoryKiB: memorySize, passes: iterations, lanes: parallelism } = cost
  const settings = { memorySize, iterations, parallelism, hashLength: 32, outputType: 'binary' } as const
  const bytes = await argon2id({ password, salt, ...settings })
  return importAesKey(new Uint8Array(bytes))
}

async function passkeyKey(prfOutput: Bytes, salt: Bytes): Promise<CryptoKey> {
  if (prfOutput.length !== prfOutputLengthBytes) throw new CryptoError('invalid_argument', 'a PRF output has 32 bytes')
  return importAesKey(await hkdf(prfOutput, salt, passkeyInfo, 32))
}

const passphraseAad = (userId: string): Bytes => encodeUtf8(`skerry/pk1/${plain(userId)}`)
const passkeyAad = (userId: string, credentialId: string): Bytes =>
  encodeUtf8(`skerry/pk2/${plain(userId)}/${plain(credentialId)}`)

/** With a slash in one of them, two places could share one AAD. */
function plain(id: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(id)) return id
  throw new CryptoError('invalid_argument', 'an id of letters, digits, _ and -')
}
