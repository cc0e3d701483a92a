import { describe, expect, test } from 'vitest'
import { formatBlob, parseBlob, splitBlob } from './blob.ts'

const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

describe('an opaque blob', () => {
  test('is parsed into the segments that it was made from', () => {
    const segments = [Uint8Array.from([1]), Uint8Array.from([2, 3])]
    expect(formatBlob('sc1', segments)).toBe('sc1.AQ.AgM')
    expect(parseBlob('sc1.AQ.AgM', 'sc1')).toEqual(segments)
  })

  test('may contain a text segment, which is not decoded', () => {
    const blob = formatBlob('pk1', ['65536-3-1', Uint8Array.from([1]), Uint8Array.from([2]), Uint8Array.from([3])])
    expect(blob).toBe('pk1.65536-3-1.AQ.Ag.Aw')
    expect(splitBlob(blob, 'pk1')).toEqual(['65536-3-1', 'AQ', 'Ag', 'Aw'])
  })

  test.each([
    ['another prefix', 'wd1.AQ.Ag', 'unsupported_prefix'],
    ['no prefix', '.AQ.Ag', 'unsupported_prefix'],
    ['empty text', '', 'unsupported_prefix'],
    ['too few segments', 'sc1.AQ', 'malformed_blob'],
    ['too many segments', 'sc1.AQ.Ag.Aw', 'malformed_blob'],
    ['an empty segment', 'sc1..Ag', 'malformed_blob'],
    ['padding', 'sc1.AQ==.Ag', 'malformed_blob'],
    ['whitespace', 'sc1.AQ.Ag ', 'malformed_blob'],
    ['its unused last bits are not zero', 'sc1.AR.Ag', 'malformed_blob'],
  ])('is refused with %s', (_, blob, code) => {
    expect(() => parseBlob(blob, 'sc1')).toThrow(refused(code))
  })

  test('is refused if it is not a string', () => {
    expect(() => parseBlob(null as unknown as string, 'sc1')).toThrow(refused('malformed_blob'))
  })

  test('cannot be made in a shape that could not be parsed', () => {
    const some = Uint8Array.from([1])
    expect(() => formatBlob('sc1', [some])).toThrow(refused('invalid_argument'))
    expect(() => formatBlob('sc1', [some, new Uint8Array(0)])).toThrow(refused('invalid_argument'))
    expect(() => formatBlob('sc1', ['a.b', some])).toThrow(refused('invalid_argument'))
  })
})
