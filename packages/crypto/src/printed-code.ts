import { type Bytes, encodeUtf8 } from './base64url.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'

/** 128 random bits cannot be guessed, so no slow derivation protects them. */
const secretLengthBytes = 16
/** The check has 12 bits, so one in 4,096 mistyped codes is not noticed. */
const checkLengthBits = 12

/** Crockford's base32, which has no I, L, O and U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const bitsPerCharacter = 5
const codeLength = (secretLengthBytes * 8 + checkLengthBits) / bitsPerCharacter
const groupLength = 4

/**
 * Writes a secret of 16 bytes as a code that people print and type: 28 letters and digits in seven groups of four, with
 * hyphens between the groups. The last 12 of its 140 bits are a check. `checkLabel` names the kind of the code, so
 * that a code of one kind is refused as another.
 *
 * @throws CryptoError `invalid_argument` unless there are 16 bytes.
 */
export async function formatPrintedCode(secret: Bytes, checkLabel: string): Promise<string> {
  if (secret.length !== secretLengthBytes) throw new CryptoError('invalid_argument', 'expected 16 bytes')
  const bits = bitsOf(secret) + (await checkBitsOf(secret, checkLabel))
  const characters = Array.from({ length: codeLength }, (_, at) => {
    const part = bits.slice(at * bitsPerCharacter, (at + 1) * bitsPerCharacter)
    return alphabet[Number.parseInt(part, 2)]
  })
  return characters.join('').replace(new RegExp(`.{${groupLength}}(?!$)`, 'g'), '$&-')
}

/**
 * Reads a code as people type it -> its secret, 16 bytes. Case, blanks and hyphens do not matter. O is read as 0, and I
 * and L as 1.
 *
 * @throws CryptoError `malformed_code` for a text of another length, another character, or a wrong check.
 */
export async function parsePrintedCode(typed: string, checkLabel: string): Promise<Bytes> {
  const code = canonical(typed)
  if (code.length !== codeLength || [...code].some((character) => !alphabet.includes(character)))
    throw new CryptoError('malformed_code', `expected ${codeLength} letters and digits`)
  const bits = [...code].map((character) => alphabet.indexOf(character).toString(2).padStart(bitsPerCharacter, '0'))
  const octets = bits
    .join('')
    .slice(0, secretLengthBytes * 8)
    .match(/.{8}/g)!
  const secret = Uint8Array.from(octets, (octet) => Number.parseInt(octet, 2))
  if (canonical(await formatPrintedCode(secret, checkLabel)) !== code)
    throw new CryptoError('malformed_code', 'a character is mistyped')
  return secret
}

const canonical = (typed: string): string =>
  typed
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')

async function checkBitsOf(secret: Bytes, checkLabel: string): Promise<string> {
  const labelled = new Uint8Array([...encodeUtf8(checkLabel), ...secret])
  return bitsOf(await sha256(labelled)).slice(0, checkLengthBits)
}

const bitsOf = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
