import { CryptoError } from '../errors.ts'
import { hashPattern } from './shape.ts'

/** A root that a client trusts, and the oldest head that the client accepts. */
export interface RootPin {
  /** The SHA-256 hash of a root, base64url. */
  root: string
  /** The lowest version of a head that the client accepts. 1 if the pin does not name a version. */
  leastHead: number
}

const headPattern = /^[1-9]\d{0,15}$/

/**
 * Parses a pin: `<hash of a root>`, optionally `@<least version of a head>`.
 *
 * @throws CryptoError `malformed_pin`.
 * @example parsePin(`${rootDocument.hash}@12`).leastHead // 12
 */
export function parsePin(text: string): RootPin {
  const [root = '', head, ...more] = typeof text === 'string' ? text.split('@') : []
  if (!hashPattern.test(root)) throw new CryptoError('malformed_pin', 'expected a SHA-256 in base64url')
  if (head === undefined) return { root, leastHead: 1 }
  const leastHead = Number(head)
  if (more.length > 0 || !headPattern.test(head) || !Number.isSafeInteger(leastHead))
    throw new CryptoError('malformed_pin', 'expected the version of a head after @')
  if (leastHead === 1) throw new CryptoError('malformed_pin', 'the version 1 is left out, because every head has it')
  return { root, leastHead }
}

/** @example formatPin({ root: rootDocument.hash, leastHead: 12 }) // '...@12' */
export const formatPin = ({ root, leastHead }: RootPin): string => (leastHead > 1 ? `${root}@${leastHead}` : root)
