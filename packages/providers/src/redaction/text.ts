import { type Encoding, spellingsOf } from './forms.ts'

/** The shortest part of a form that counts as the secret, because servers shorten the text that they quote. */
const partLength = 12
/** The shortest part that counts as the secret if it looks like a generated password. */
const tellingPartLength = 8
/** A shorter form counts only as a separate word: the secret `1` must not be found in `HTTP 401`. */
const wordLength = 6
/** The length of the parts that are looked up in the index. */
const gramLength = 4

/**
 * The longest value of which all forms are searched. Longer values, such as certificates, get fewer forms, because all
 * forms would cost seconds and hundreds of megabytes.
 */
const allFormsMaxLength = 1024
/** The other encodings leave long runs of letters and digits unchanged, so a part is found there. */
const longValueEncodings: readonly Encoding[] = ['base64', 'hex']

/** Says whether a text repeats a secret. */
export type TextSearch = (text: string) => boolean

/**
 * Prepares the search for secrets in a short text for people, such as an error of a lease target. It knows all
 * encodings of `forms.ts`. It finds more than the search in streams: any case, any line breaks, and parts of a value.
 *
 * @example const repeats = textSearchFor([password])
 */
export function textSearchFor(secrets: Iterable<string>): TextSearch {
  let forms: string[] | undefined
  return (text) => {
    // Most sessions get no error, so the forms are built for the first text only.
    forms ??= formsOf(secrets)
    const found = indexOf(text)
    return forms.some((form) => isIn(form, found))
  }
}

function formsOf(secrets: Iterable<string>): string[] {
  const forms = new Set<string>()
  for (const secret of secrets) {
    const wanted = secret.length > allFormsMaxLength ? longValueEncodings : undefined
    for (const form of spellingsOf(secret, wanted)) forms.add(joined(form))
  }
  forms.delete('')
  return [...forms]
}

/**
 * Removes line breaks, other spaces and control characters, so that a wrapped value is found. The pattern ignores case:
 * a secret may contain `\\T`, but the text is in lower case.
 */
const joined = (text: string) => text.replace(/(?:[\s\p{Cc}]|\\[nrt])+/giu, '')

interface TextIndex {
  /** The text in lower case, with its spaces. */
  words: string
  joined: string
  grams: ReadonlySet<string>
  parts: ReadonlySet<string>
  longParts: ReadonlySet<string>
}

function indexOf(text: string): TextIndex {
  const words = text.toLowerCase()
  const one = joined(words)
  const ofLength = (length: number) =>
    new Set(Array.from({ length: Math.max(0, one.length - length + 1) }, (_, at) => one.slice(at, at + length)))
  return {
    words,
    joined: one,
    grams: ofLength(gramLength),
    parts: ofLength(tellingPartLength),
    longParts: ofLength(partLength),
  }
}

function isIn(form: string, text: TextIndex): boolean {
  const lower = form.toLowerCase()
  if (form.length < wordLength && !isTelling(form)) return hasWord(text.words, lower)
  return text.joined.includes(lower) || hasPart(form, text)
}

/** Every part contains one of the grams at these positions, so most of a form is never compared. */
function hasPart(form: string, { grams, parts, longParts }: TextIndex): boolean {
  const step = tellingPartLength - gramLength + 1
  for (let at = 0; at + gramLength <= form.length; at += step) {
    if (!grams.has(form.slice(at, at + gramLength).toLowerCase())) continue
    for (let from = Math.max(0, at - step + 1); from <= at; from++) {
      const part = form.slice(from, from + tellingPartLength)
      if (part.length === tellingPartLength && parts.has(part.toLowerCase()) && isTelling(part)) return true
    }
    for (let from = Math.max(0, at - partLength + gramLength); from <= at; from++) {
      const part = form.slice(from, from + partLength)
      if (part.length === partLength && longParts.has(part.toLowerCase())) return true
    }
  }
  return false
}

/** Whether a part has a mix that ordinary words do not have: letters with digits, or a capital after a small letter. */
const isTelling = (part: string) =>
  part.length >= gramLength && (/[a-z][A-Z]/.test(part) || (/\d/.test(part) && /[a-z]/i.test(part)))

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = (text[at - 1] ?? ' ') + (text[at + word.length] ?? ' ')
    if (!/[\p{L}\p{N}]/u.test(around)) return true
  }
  return false
}
