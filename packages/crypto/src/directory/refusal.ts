import { CryptoError, type CryptoErrorCode } from '../errors.ts'

/** A refusal’s expected and received document, and the keys that could have signed it. All are public. */
interface Mismatch {
  expected: string
  came: string
  /** Ids of the people and tokens whose signature would have been accepted. Empty if no signature would have helped. */
  signers?: readonly string[]
}

/**
 * A refusal of the directory. It is a `CryptoError` whose message also says what was expected, what came, and who could
 * have signed it.
 */
export class DirectoryError extends CryptoError {
  readonly expected: string
  readonly came: string
  readonly signers: readonly string[]

  constructor(code: CryptoErrorCode, { expected, came, signers = [] }: Mismatch) {
    const signed = signers.length === 0 ? '' : `; could be signed by ${signers.join(', ')}`
    super(code, undefined, `expected ${expected}, came ${came}${signed}`)
    this.expected = expected
    this.came = came
    this.signers = signers
  }
}

/** The last second that a date can have in ECMAScript. */
const lastSecond = 8_640_000_000_000

/** Writes Unix seconds for people: `2026-11-28T14:00:00Z`. A hostile document may have a number that is no date. */
export const timeText = (seconds: number): string =>
  Math.abs(seconds) <= lastSecond ? new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z') : String(seconds)

/** `problem` begins with the path of the member and is fixed text, except for the number of an element. */
export const malformed = (problem: string): CryptoError => new CryptoError('directory_malformed', problem)
