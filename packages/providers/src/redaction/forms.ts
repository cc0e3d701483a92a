/** The encodings in which an answer may repeat a value, besides plain text. */
export const encodings = ['percent', 'json', 'base64', 'hex', 'html', 'utf16'] as const

export type Encoding = (typeof encodings)[number]

/**
 * Returns every form of a text that is searched for, as bytes. Encoders differ in what they encode, so each encoding
 * has several forms. Common double encodings are included: percent-encoded twice, JSON in JSON, and base64 in lines of
 * 76 characters.
 *
 * @example formsOf('a/b', ['percent']) // a/b, a%2Fb, a%2fb, %61%2F%62, and with %25
 */
export function formsOf(value: string, wanted: readonly Encoding[] = encodings): Buffer[] {
  const text = value.toWellFormed()
  const lined = wanted.includes('base64') ? base64Forms(text).flatMap(inLines) : []
  const forms = [...new Set([...spellingsOf(text, wanted), ...lined])].map((form) => Buffer.from(form))
  return wanted.includes('utf16') ? [...forms, ...utf16(text)] : forms
}

/**
 * Returns the forms as texts, each on one line. UTF-16 is left out, because without its zero bytes it is ordinary text.
 */
export function spellingsOf(value: string, wanted: readonly Encoding[] = encodings): string[] {
  const text = value.toWellFormed()
  const others = wanted.flatMap((encoding) => (encoding === 'utf16' ? [] : writers[encoding](text)))
  return [...new Set([text, ...others])]
}

/** Returns both byte orders. */
function utf16(text: string): Buffer[] {
  const little = Buffer.from(text, 'utf16le')
  return [little, Buffer.from(little).swap16()]
}

const writers: Readonly<Record<Exclude<Encoding, 'utf16'>, (value: string) => string[]>> = {
  percent: (value) => {
    const once = percentForms(value)
    // The second encoding turns each `%` into `%25`.
    return [...once, ...once.map((form) => form.replaceAll('%', '%25'))]
  },
  json: (value) => {
    const once = jsonForms(value)
    return [...once, ...once.map((form) => JSON.stringify(form).slice(1, -1))]
  },
  base64: (value) => [...base64Forms(value), ...base64Forms(value, 'base64url')],
  hex: (value) => {
    const hex = Buffer.from(value).toString('hex')
    return [hex, hex.toUpperCase()]
  },
  html: (value) => {
    const all = (write: (code: number) => string) => [...value].map((one) => write(one.codePointAt(0)!)).join('')
    const hex = (code: number) => code.toString(16)
    const plain = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const quoted = quotes.map((quote) => plain.replaceAll('"', quote))
    return [
      ...apostrophes.flatMap((one) => quoted.map((form) => form.replaceAll("'", one))),
      all((code) => `&#${code};`),
      all((code) => `&#x${hex(code)};`),
      all((code) => `&#x${hex(code).toUpperCase()};`),
    ]
  },
}

/** Returns three base64 forms, because the value can begin at each of three bytes of a group. */
const base64Forms = (value: string, alphabet: 'base64' | 'base64url' = 'base64'): string[] =>
  [0, 1, 2].map((before) => base64Within(Buffer.from(value), before, alphabet))

/** Escapers write one of these, or leave the character unchanged. */
const quotes = ['"', '&quot;', '&#34;']
const apostrophes = ["'", '&#39;', '&#x27;', '&apos;']

const lineLength = 76
/** The longest form that is searched in lines. Longer forms would need too much memory. */
const linedMaxLength = 512

/** Base64 in lines of 76 characters, as mail and `base64` write it. A value can begin anywhere in the first line. */
function inLines(form: string): string[] {
  if (form.length > linedMaxLength) return []
  const firsts = Array.from({ length: Math.min(lineLength, form.length - 1) }, (_, at) => at + 1)
  return firsts.flatMap((first) => {
    const rest = form.slice(first).match(/.{1,76}/g) ?? []
    const lines = [form.slice(0, first), ...rest]
    return [lines.join('\n'), lines.join('\r\n')]
  })
}

/**
 * The forms of browsers and Node, of RFC 3986, of HTML forms in browsers and Python, without letters and digits, and of
 * all bytes.
 */
const percentForms = (value: string): string[] =>
  [
    encodeURI(value),
    encodeURIComponent(value),
    percentEncode(value, /[A-Za-z0-9._~-]/),
    percentEncode(value, /[A-Za-z0-9._*-]/).replaceAll('%20', '+'),
    percentEncode(value, /[A-Za-z0-9._~-]/).replaceAll('%20', '+'),
    percentEncode(value, /[A-Za-z0-9]/),
    percentEncode(value, /$^/),
  ].flatMap((form) => [form, form.replace(/%../g, (byte) => byte.toLowerCase())])

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1)
  const inHtml = plain.replace(/[<>&\u2028\u2029]/g, unicodeEscape)
  const forms = [
    plain,
    inHtml,
    plain.replace(/[^\0-\x7f]/g, unicodeEscape),
    inHtml.replace(/[^\0-\x7f]/g, unicodeEscape),
  ]
  const all = value.replace(/[\s\S]/g, unicodeEscape)
  return [...forms, all]
    .flatMap((form) => [form, form.replaceAll('/', '\\/')])
    .flatMap((form) => [form, form.replace(/\\u..../g, (one) => `\\u${one.slice(2).toUpperCase()}`)])
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
 * Returns the base64 characters that bytes give in the middle of other bytes. `before` is how many bytes precede them
 * in their group of three. A character at an end that also depends on a neighbouring byte is left out.
 */
function base64Within(bytes: Buffer, before: number, alphabet: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet)
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}
