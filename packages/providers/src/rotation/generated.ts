import { randomBytes } from 'node:crypto'
import { generatedLengthDefault, namedAlphabets, type RotationConfig } from '@skerry/contract/rotation/kinds'

/** A new value as a policy asks for it. */
export function generateValue({
  length = generatedLengthDefault,
  alphabet = 'alphanumeric',
}: RotationConfig<'generated'>) {
  return randomText(length, alphabetOf(alphabet))
}

/** Letters and digits alone: every driver and every connection string takes them as they are. */
export const generatePassword = (length: number): string => randomText(length, namedAlphabets.alphanumeric)

const alphabetOf = (alphabet: string): string =>
  Object.hasOwn(namedAlphabets, alphabet) ? namedAlphabets[alphabet as keyof typeof namedAlphabets] : alphabet

/** Bytes beyond the last whole turn of the alphabet are dropped, so that no character is likelier. */
function randomText(length: number, characters: string): string {
  const below = 256 - (256 % characters.length)
  let text = ''
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < below && text.length < length) text += characters[byte % characters.length]
  return text
}
