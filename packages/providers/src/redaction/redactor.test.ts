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

describe('bytes that came all at once', () => {
  it('have their values replaced, and keep an end that only begins like one', () => {
    const { whole, counts } = redactor([secret])
    const beginning = value.slice(0, 5)
    expect(Buffer.from(whole(Buffer.from(`[${value}]${beginning}`))).toString()).toBe(`[${mark}]${beginning}`)
    expect(counts).toEqual(new Map([['API_KEY', 1]]))
  })

  it('are given back as they are where nothing is replaced', () => {
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
    ['as it is', value],
    ['percent-encoded', encodeURIComponent(value)],
    ['in lowercase hex', encodeURIComponent(value).replace(/%../g, (one) => one.toLowerCase())],
    ['as a URL', encodeURI(value)],
    ['as a form', new URLSearchParams({ a: value }).toString().slice(2)],
    [
      'with all but letters and digits encoded',
      all.map((one, at) => (/\w/.test(value[at]!) ? value[at] : one)).join(''),
    ],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
    ['in JSON, with slashes escaped', JSON.stringify(value).slice(1, -1).replace('/', '\\/')],
    ['in JSON of ASCII alone', JSON.stringify(value).slice(1, -1).replace(/ü/g, '\\u00fc')],
    ['in JSON of ASCII alone, in capitals', JSON.stringify(value).slice(1, -1).replace(/ü/g, '\\u00FC')],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(value))],
    ['with every byte encoded', all.join('')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    [
      'in JSON with every character escaped',
      [...value].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['in hex', Buffer.from(value).toString('hex')],
    ['in hex in capitals', Buffer.from(value).toString('hex').toUpperCase()],
    ['in HTML of Python', 'p4ss/w%rd &quot;ü&quot;+Zz&lt;&amp;&gt;\n~!'],
    ['in HTML of Go', 'p4ss/w%rd &#34;ü&#34;+Zz&lt;&amp;&gt;\n~!'],
    ['in numbers of HTML', [...value].map((one) => `&#${one.charCodeAt(0)};`).join('')],
    ['in hexadecimal numbers of HTML', [...value].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join('')],
    [
      'in JSON for HTML',
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

  it.each(['\n', '\r\n'])('in base64 in lines that end in %j, wherever it begins', (end) => {
    for (let before = 0; before < 80; before++) {
      const text = Buffer.from(`${'x'.repeat(before)}${value}${'y'.repeat(40)}`).toString('base64')
      const lines = text.match(/.{1,76}/g)!.join(end)
      expect(redacted(lines), `after ${before}`).toContain(mark)
    }
  })

  it.each(['base64', 'base64url'] as const)('in %s, wherever it begins in a group of three', (alphabet) => {
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

  it('the longest where several begin, and the first where two overlap', () => {
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

  it('but not a short one, and by the words that were configured', () => {
    const build = redaction([{ name: 'A', value: 'short' }, secret], { placeholder: '***' })
    expect(through(build(), [Buffer.from(`short ${value}`)]).toString()).toBe('short ***')
  })

  it('in the encodings that were asked for alone', () => {
    const build = redaction([secret], { encodings: ['percent'] })
    const [percent, json] = [encodeURIComponent(value), JSON.stringify(value)]
    expect(through(build(), [Buffer.from(`${percent} ${json}`)]).toString()).toBe(`${mark} ${json}`)
  })
})

describe('a stream', () => {
  it('is held back where a value may have begun, and nowhere else', () => {
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

  it('passes as it is without secrets, and does not keep the memory of a chunk', () => {
    const bytes = randomBytes(1000)
    expect(through(redactor([]), [bytes])).toEqual(bytes)
    const { transform } = redactor([secret])
    const chunk = Buffer.from(value.slice(0, 9))
    transform(chunk)
    chunk.fill(0)
    expect(Buffer.from(transform(Buffer.from(value.slice(9)))).toString()).toBe(mark)
  })

  it('of Node comes out the same', async () => {
    const one = redactor([secret])
    const text = `${'x'.repeat(100_000)}${value}${'y'.repeat(100_000)}`
    const chunks = Readable.from([Buffer.from(text.slice(0, 100_005)), Buffer.from(text.slice(100_005))])
    expect((await buffer(chunks.pipe(redactStream(one)))).toString()).toBe(text.replace(value, mark))
    expect(one.counts.get('API_KEY')).toBe(1)
  })
})

/** Byte by byte over all of it, with no table: the first place, and there the longest form. */
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

/** Of few letters, so that values overlap, repeat themselves, and begin like one another. */
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

it('however the bytes are cut, all of it comes out as one search over the whole would have it', () => {
  for (let round = 0; round < 150; round++) {
    const { secrets, bytes } = randomScene()
    const chunks = randomChunks(bytes)
    const one = redactor(secrets)
    const text = through(one, chunks).toString('latin1')
    const scene = JSON.stringify({ secrets, chunks: chunks.map((chunk) => chunk.toString('latin1')) })
    expect({ text, counts: Object.fromEntries(one.counts) }, scene).toEqual(naively(bytes, secrets))
  }
})
