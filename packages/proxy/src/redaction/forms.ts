/** How a value may be written in an answer, beside as it is. */
export type Encoding = 'percent' | 'json' | 'base64'

export const encodings: readonly Encoding[] = ['percent', 'json', 'base64']

/**
 * Every way in which a text is looked for, as bytes. Encoders differ in what they encode, so each has several forms; a text
 * that none of them changes has one.
 *
 * @example formsOf('a/b') // a/b, a%2Fb, a%2fb, a\/b, and base64
 */
export function formsOf(value: string, wanted: readonly Encoding[] = encodings): Buffer[] {
  const text = value.toWellFormed()
  const forms = [text, ...wanted.flatMap((encoding) => writers[encoding](text))]
  return [...new Set(forms)].map((form) => Buffer.from(form))
}

const writers: Readonly<Record<Encoding, (value: string) => string[]>> = {
  percent: (value) =>
    [
      // As browsers and Node do it, as RFC 3986 has it, as browsers and Python send forms, and all but letters and digits.
      encodeURI(value),
      encodeURIComponent(value),
      percentEncode(value, /[A-Za-z0-9._~-]/),
      percentEncode(value, /[A-Za-z0-9._*-]/).replaceAll('%20', '+'),
      percentEncode(value, /[A-Za-z0-9._~-]/).replaceAll('%20', '+'),
      percentEncode(value, /[A-Za-z0-9]/),
    ].flatMap((form) => [form, form.replace(/%../g, (byte) => byte.toLowerCase())]),
  json: (value) => {
    const plain = JSON.stringify(value).slice(1, -1)
    const inHtml = plain.replace(/[<>&\u2028\u2029]/g, unicodeEscape)
    const forms = [
      plain,
      inHtml,
      plain.replace(/[^\0-\x7f]/g, unicodeEscape),
      inHtml.replace(/[^\0-\x7f]/g, unicodeEscape),
    ]
    return forms
      .flatMap((form) => [form, form.replaceAll('/', '\\/')])
      .flatMap((form) => [form, form.replace(/\\u..../g, (one) => `\\u${one.slice(2).toUpperCase()}`)])
  },
  base64: (value) => {
    const bytes = Buffer.from(value)
    return [0, 1, 2].flatMap((before) => [
      base64Within(bytes, before, 'base64'),
      base64Within(bytes, before, 'base64url'),
    ])
  },
}

function percentEncode(value: string, kept: RegExp): string {
  const encoded = [...Buffer.from(value)].map((byte) => {
    const character = String.fromCharCode(byte)
    return byte < 128 && kept.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  })
  return encoded.join('')
}

const unicodeEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * The characters that bytes give in the middle of other ones, by how many stand before in their group of three. A character
 * at an end that shares its six bits with a neighbour depends on that, and is left out.
 */
function base64Within(bytes: Buffer, before: number, alphabet: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet)
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}
