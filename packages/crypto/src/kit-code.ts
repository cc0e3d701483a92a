import type { Bytes } from './base64url.ts'
import { formatPrintedCode, parsePrintedCode } from './printed-code.ts'
import { randomBytes } from './random.ts'

/** If this label changes, every printed code is refused. */
const checkLabel = 'skerry/recovery-kit/check/v1/'

/**
 * Makes the code of a recovery kit: 28 letters and digits in seven groups of four, with hyphens between the groups.
 * They contain 128 random bits and a check of 12 bits. Show the code once, for the person to print. Everyone who has
 * the code and the encrypted private key can decrypt the private key.
 *
 * @example await newKitCode() // 'G5TN-8Q0W-…', seven groups
 */
export const newKitCode = (): Promise<string> => formatKitCode(randomBytes(16))

/**
 * Writes a secret of 16 bytes as the code of a recovery kit.
 *
 * @throws CryptoError `invalid_argument` unless there are 16 bytes.
 * @example await formatKitCode(await parseKitCode(kitCode)) // the code as it was printed
 */
export const formatKitCode = (secret: Bytes): Promise<string> => formatPrintedCode(secret, checkLabel)

/**
 * Reads the code of a recovery kit as people type it -> its secret, 16 bytes. Case, blanks and hyphens do not matter. O
 * is read as 0, and I and L as 1.
 *
 * @throws CryptoError `malformed_code` for a text of another length, another character, or a wrong check.
 * @example const secret = await parseKitCode(kitCode)
 */
export const parseKitCode = (typed: string): Promise<Bytes> => parsePrintedCode(typed, checkLabel)
