import { isUtf8 } from 'node:buffer'
import { changeNoteHeader } from '@skerry/contract/headers'
import { limits } from '@skerry/contract/limits'
import { FreeText } from '@skerry/contract/schema'
import { Compile } from 'typebox/compile'
import { fail } from '../../kernel/errors.ts'

const freeText = Compile(FreeText)

/** The proposer's explanation; null if there is none. */
export function noteFrom(headers: Record<string, string | string[] | undefined>): string | null {
  const given = headers[changeNoteHeader]
  if (typeof given !== 'string') return null
  const note = decode(given).trim()
  if (note === '') return null
  if (!freeText.Check(note))
    throw fail(
      'invalid_request',
      `header ${changeNoteHeader}: at most ${limits.noteCharacters} characters, and no control characters`,
    )
  return note
}

/**
 * Our clients send percent-encoded UTF-8, the one form that passes through every client and proxy. Other clients send
 * plain text, in UTF-8 or Latin-1 (RFC 9110, section 5.5), which Node returns byte by byte.
 */
function decode(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  const text = isUtf8(bytes) ? bytes.toString('utf8') : header
  try {
    return decodeURIComponent(text)
  } catch {
    return text // "100 % sure" is no escape
  }
}
