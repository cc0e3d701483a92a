import { randomBytes, randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { formsOf } from './forms.ts'
import { type Redactor, redaction, redactor, redactStream, type Secret } from './redactor.ts'

const value = 'p4ss/w%rd "ü"+Zz<&>\n~!'
const secret: Secret = { name: 'API_KEY', value }
const mark = '[redacted by skerry: API_KEY]'

const through = ({ transform, flush }: Redactor, chunks: Uint8Array[]) =>
  Buffer.concat([...chunks.map((chunk) => Buffer.from(transform(chunk))), flush()])
const redacted = (text: string, secrets = [secret]) => through(redactor(secrets), [Buffer.from(text)]).toString()

describe('the redaction of complete bytes', () => {
  it('replaces the values, and keeps an end that only begins like a value', () => {
    const { whole, counts } = redactor([secret])
    const beginning = value.slice(0, 5)
    expect(Buffer.from(whole(Buffer.from(`[${value}]${beginning}`))).toString()).toBe(`[${mark}]${beginning}`)
    expect(counts).toEqual(new Map([['API_KEY', 1]]))
  })

  it('returns the same bytes if it replaces nothing', () => {
    const bytes = Buffer.from(`nothing but ${value.slice(0, 5)}`)
    const { whole, flush } = redactor([secret])
    expect(whole(bytes)).toBe(bytes)
    expect(flush()).toHaveLength(0)
  })
})

describe('a value is replaced', () => {
  const all = [...value].map((one) =>
    [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )
  it.each([
    ['in plain text', value],
    ['percent-encoded', encodeURIComponent(value)],
    ['percent-encoded in lower case', encodeURIComponent(value).replace(/%../g, (one) => one.toLowerCase())],
    ['encoded as a URL', encodeURI(value)],
    ['encoded as form data', new URLSearchParams({ a: value }).toString().slice(2)],
    [
      'percent-encoded except for letters and digits',
      all.map((one, at) => (/\w/.test(value[at]!) ? value[at] : one)).join(''),
    ],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
    ['in JSON, with slashes escaped', JSON.stringify(value).slice(1, -1).replace('/', '\\/')],
    ['in ASCII-only JSON', JSON.stringify(value).slice(1, -1).replace(/ü/g, '\\u00fc')],
    ['in ASCII-only JSON with upper-case escapes', JSON.stringify(value).slice(1, -1).replace(/ü/g, '\\u00FC')],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(value))],
    ['percent-encoded in every byte', all.join('')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    [
      'in JSON with every character escaped',
      [...value].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['in hex', Buffer.from(value).toString('hex')],
    ['in upper-case hex', Buffer.from(value).toString('hex').toUpperCase()],
    ['in HTML as Python escapes it', 'p4ss/w%rd &quot;ü&quot;+Zz&lt;&amp;&gt;\n~!'],
    ['in HTML as Go escapes it', 'p4ss/w%rd &#34;ü&#34;+Zz&lt;&amp;&gt;\n~!'],
    ['in decimal HTML references', [...value].map((one) => `&#${one.charCodeAt(0)};`).join('')],
    ['in hexadecimal HTML references', [...value].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join('')],
    [
      'in JSON that is escaped for HTML',
      JSON.stringify(value).slice(1, -1).replace('<', '\\u003c').replace('&', '\\u0026').replace('>', '\\u003e'),
    ],
  ])('%s', (_, form) => {
    expect(redacted(`before ${form} after`)).toBe(`before ${mark} after`)
  })

  it.each(['utf16le', 'utf16be'])('in %s', (order) => {
    const little = (text: string) => Buffer.from(text, 'utf16le')
    const bytes = (text: string) => (order === 'utf16le' ? little(text) : little(text).swap16())
    const out = through(redactor([secret]), [bytes('before '), bytes(value), bytes(' after')])
    expect([out.includes(mark), out.includes(bytes(value.slice(1)))]).toEqual([true, false])
  })

  it.each(['\n', '\r\n'])('in base64 in lines that end in %j, at any position', (end) => {
    for (let before = 0; before < 80; before++) {
      const text = Buffer.from(`${'x'.repeat(before)}${value}${'y'.repeat(40)}`).toString('base64')
      const lines = text.match(/.{1,76}/g)!.join(end)
      expect(redacted(lines), `after ${before}`).toContain(mark)
    }
  })

  it.each(['base64', 'base64url'] as const)('in %s, at any position in a group of three bytes', (alphabet) => {
    for (const before of ['', 'a', 'ab', 'abc', 'user:', '{"k":"'])
      for (const after of ['', 'z', 'zz']) {
        const text = Buffer.from(`${before}${value}${after}`).toString(alphabet)
        const clean = redacted(`"${text}"`)
        expect(clean).toContain(mark)
        expect(clean.length - mark.length).toBeLessThan(
          text.length - Math.floor((Buffer.byteLength(value) * 4) / 3) + 6,
        )
      }
  })

  it('as the longest of several that begin together, and as the first of two that overlap', () => {
    const secrets = [
      { name: 'SHORT', value: 'abcdefgh' },
      { name: 'LONG', value: 'abcdefghijkl' },
      { name: 'LATER', value: 'ghijklmnop' },
    ]
    const { transform, flush, counts } = redactor(secrets)
    const text = Buffer.concat([
      transform(Buffer.from('abcdefghij')),
      transform(Buffer.from('klmnop abcdefgh')),
      flush(),
    ])
    expect(text.toString()).toBe('[redacted by skerry: LONG]mnop [redacted by skerry: SHORT]')
    expect(Object.fromEntries(counts)).toEqual({ LONG: 1, SHORT: 1 })
  })

  it('with the configured placeholder, unless the value is too short', () => {
    const build = redaction([{ name: 'A', value: 'short' }, secret], { placeholder: '***' })
    expect(through(build(), [Buffer.from(`short ${value}`)]).toString()).toBe('short ***')
  })

  it('only in the configured encodings', () => {
    const build = redaction([secret], { encodings: ['percent'] })
    const [percent, json] = [encodeURIComponent(value), JSON.stringify(value)]
    expect(through(build(), [Buffer.from(`${percent} ${json}`)]).toString()).toBe(`${mark} ${json}`)
  })
})

describe('a stream', () => {
  it('is delayed only where a value may have begun', () => {
    const { transform, flush } = redactor([secret])
    const says = (text: string) => Buffer.from(transform(Buffer.from(text))).toString()
    expect(says('data: 1\n\n')).toBe('data: 1\n\n')
    expect(says('data: p4ss')).toBe('data: ')
    expect(says('age\n\n')).toBe('p4ssage\n\n')
    expect(says(value.slice(0, 12))).toBe('')
    expect(says(value.slice(12))).toBe(mark)
    expect(says('p4')).toBe('')
    expect(Buffer.from(flush()).toString()).toBe('p4')
  })

  it('passes unchanged if there are no secrets, and its chunks may be overwritten after use', () => {
    const bytes = randomBytes(1000)
    expect(through(redactor([]), [bytes])).toEqual(bytes)
    const { transform } = redactor([secret])
    const chunk = Buffer.from(value.slice(0, 9))
    transform(chunk)
    chunk.fill(0)
    expect(Buffer.from(transform(Buffer.from(value.slice(9)))).toString()).toBe(mark)
  })

  it('of Node is redacted in the same way', async () => {
    const one = redactor([secret])
    const text = `${'x'.repeat(100_000)}${value}${'y'.repeat(100_000)}`
    const chunks = Readable.from([Buffer.from(text.slice(0, 100_005)), Buffer.from(text.slice(100_005))])
    expect((await buffer(chunks.pipe(redactStream(one)))).toString()).toBe(text.replace(value, mark))
    expect(one.counts.get('API_KEY')).toBe(1)
  })
})

/** Compares at every byte, without a table. Takes the first match, and the longest form of several at one position. */
function naively(bytes: Buffer, secrets: Secret[]): { text: string; counts: Record<string, number> } {
  const needles = secrets.flatMap(({ name, value }) => formsOf(value).map((form) => ({ name, form })))
  const counts: Record<string, number> = {}
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const here = needles.filter(({ form }) => bytes.subarray(at, at + form.length).equals(form))
    const found = here.toSorted((a, b) => b.form.length - a.form.length)[0]
    if (found) counts[found.name] = (counts[found.name] ?? 0) + 1
    parts.push(found ? Buffer.from(`[redacted by skerry: ${found.name}]`) : bytes.subarray(at, at + 1))
    at += found?.form.length ?? 1
  }
  return { text: Buffer.concat(parts).toString('latin1'), counts }
}

const pick = <T>(from: readonly T[]): T => from[randomInt(from.length)]!
const letters = (alphabet: string, length: number) => Array.from({ length }, () => pick([...alphabet])).join('')

/** Uses few letters, so that values overlap, repeat themselves and begin alike. */
function randomScene() {
  const alphabet = pick(['ab', 'a/"', 'aü%', 'abcdefghij0123456789'])
  const secrets = Array.from({ length: randomInt(1, 5) }, (_, at) => ({
    name: `S${at}`,
    value: letters(alphabet, randomInt(8, 20)),
  }))
  const pieces = Array.from({ length: randomInt(1, 40) }, () => {
    const form = pick(formsOf(pick(secrets).value))
    return pick([form, form.subarray(0, randomInt(form.length)), Buffer.from(letters(alphabet, randomInt(12)))])
  })
  return { secrets, bytes: Buffer.concat(pieces) }
}

function randomChunks(bytes: Buffer): Buffer[] {
  const most = pick([1, 3, 17, 1000])
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = randomInt(0, most + 1)
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}

it('the redaction of chunks of any size gives the same result as one search over all bytes', () => {
  for (let round = 0; round < 150; round++) {
    const { secrets, bytes } = randomScene()
    const chunks = randomChunks(bytes)
    const one = redactor(secrets)
    const text = through(one, chunks).toString('latin1')
    const scene = JSON.stringify({ secrets, chunks: chunks.map((chunk) => chunk.toString('latin1')) })
    expect({ text, counts: Object.fromEntries(one.counts) }, scene).toEqual(naively(bytes, secrets))
  }
})
