import { describe, expect, test } from 'vitest'
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { randomBytes } from './random.ts'

const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

describe('base64url', () => {
  test.each([
    ['', []],
    ['Zg', [0x66]],
    ['Zm8', [0x66, 0x6f]],
    ['Zm9v', [0x66, 0x6f, 0x6f]],
    ['-_-_', [0xfb, 0xff, 0xbf]],
    ['AAAA', [0, 0, 0]],
  ])('%j encodes and decodes its bytes', (text, bytes) => {
    expect(encodeBase64url(Uint8Array.from(bytes))).toBe(text)
    expect([...decodeBase64url(text)]).toEqual(bytes)
  })

  test('every length up to 300 bytes, and 1 MiB, survives encoding and decoding', () => {
    for (const length of [...Array(301).keys(), 1_048_576]) {
      const bytes = randomBytes(length)
      expect(Buffer.compare(decodeBase64url(encodeBase64url(bytes)), bytes)).toBe(0)
      if (length < 301) expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
    }
  })

  test('a text of up to two characters decodes exactly when it is the encoding of its bytes', () => {
    const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
    for (const text of [...characters, ...characters.flatMap((first) => characters.map((second) => first + second))]) {
      const canonical = Buffer.from(text, 'base64url').toString('base64url') === text
      if (canonical) expect(encodeBase64url(decodeBase64url(text))).toBe(text)
      else expect(() => decodeBase64url(text)).toThrow(refused('malformed_base64url'))
    }
  })

  test.each([
    ['padding', 'Zg=='],
    ['one padding character', 'Zm8='],
    ['a space', 'Zm 9v'],
    ['a newline at the end', 'Zm9v\n'],
    ['a tab', '\tZm9v'],
    ['the standard alphabet', '+/+/'],
    ['a dot', 'Zm.v'],
    ['no base64url text has this length', 'Zm9vY'],
    ['trailing bits set after one byte', 'Zh'],
    ['trailing bits set after two bytes', 'Zm9'],
    ['a letter beyond ASCII', 'Zm9é'],
    ['a letter beyond Latin-1', 'Zm9\u015a'],
  ])('%s is refused', (_, text) => {
    expect(() => decodeBase64url(text)).toThrow(refused('malformed_base64url'))
  })

  test('a caller can choose the error code', () => {
    expect(() => decodeBase64url('=', 'malformed_key')).toThrow(refused('malformed_key'))
  })

  test('a value that is not a string is refused', () => {
    expect(() => decodeBase64url(undefined as unknown as string)).toThrow(refused('malformed_base64url'))
  })
})

describe('UTF-8', () => {
  test.each(['', 'plain', 'héllo-🌍', '\ufeffbyte order mark', 'null\0', '\u{10ffff}'])(
    '%j survives encoding and decoding',
    (text) => {
      expect(decodeUtf8(encodeUtf8(text))).toBe(text)
    },
  )

  test.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('a lone surrogate is refused, never replaced: %j', (text) => {
    expect(() => encodeUtf8(text)).toThrow(refused('malformed_text'))
  })

  test.each([
    ['a broken sequence', [0xc3, 0x28]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0x80]],
    ['a sequence cut short', [0xf0, 0x9f]],
  ])('%s is refused', (_, bytes) => {
    expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow(refused('malformed_text'))
  })
})
