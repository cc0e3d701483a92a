import { randomInt } from 'node:crypto'

/** Consonants that cannot be mistaken for one another. There are no vowels, so that no code is a word. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'

/** Eight random letters in two halves, all letters equally likely: `WDJB-MJHT`. */
export function newCode(): string {
  const half = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${half()}-${half()}`
}
