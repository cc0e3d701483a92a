import { randomBytes } from 'node:crypto'
import { generatedLengthDefault, namedAlphabets, type RotationConfig } from '@skerry/contract/rotation/kinds'

/** Generates a value with the length and alphabet of a policy. */
export function generateValue({
  length = generatedLengthDefault,
  alphabet = 'alphanumeric',
}: RotationConfig<'generated'>) {
  return randomText(length, alphabetOf(alphabet))
}

/** Uses only letters and digits, which every driver and every connection string accepts unescaped. */
export const generatePassword = (length: number): string => randomText(length, namedAlphabets.alphanumeric)

const alphabetOf = (alphabet: string): string =>
  Object.hasOwn(namedAlphabets, alphabet) ? namedAlphabets[alphabet as keyof typeof namedAlphabets] : alphabet

/** Drops bytes above the last full multiple of the alphabet's length, so that every character is equally likely. */
function randomText(length: number, characters: string): string {
  const below = 256 - (256 % characters.length)
  let text = ''
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < below && text.length < length) text += characters[byte % characters.length]
  return text
}
