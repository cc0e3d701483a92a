import { CryptoError } from './errors.ts'

/**
 * Computes on which side each hash of an inclusion proof stands, from the leaf to the root: RFC 9162, section 2.1.3.2.
 *
 * @param length the number of hashes in the proof.
 * @throws CryptoError `malformed_proof` for an index outside the tree, and for a proof of another length.
 */
export function sidesOfPath(index: number, size: number, length: number): ('left' | 'right')[] {
  if (!(Number.isSafeInteger(index) && Number.isSafeInteger(size) && 0 <= index && index < size))
    throw new CryptoError('malformed_proof', 'the index is outside the tree')
  const sides: ('left' | 'right')[] = []
  let [node, last] = [index, size - 1]
  while (sides.length < length) {
    if (last === 0) throw new CryptoError('malformed_proof', 'it is too long')
    if (node % 2 === 1 || node === last) {
      sides.push('left')
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else sides.push('right')
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  if (last !== 0) throw new CryptoError('malformed_proof', 'it is too short')
  return sides
}
