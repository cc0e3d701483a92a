import { randomInt } from 'node:crypto'

/** Consonants that are not mistaken for one another, and no vowels, so that no code is a word. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** Eight random letters, no letter likelier than another, in two halves: `WDJB-MJHT`. */
export function newCode(): string {
  const half = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${half()}-${half()}`
}
