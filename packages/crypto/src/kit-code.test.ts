import { describe, expect, test } from 'vitest'
import vectors from '../vectors/keyring.json' with { type: 'json' }
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { formatKitCode, newKitCode, parseKitCode } from './kit-code.ts'

const { accepted, refused } = vectors.kitCodes
const isRefused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

describe('the code of a recovery kit', () => {
  test.each(accepted)('is read: $title', async ({ typed, secret }) => {
    expect(encodeBase64url(await parseKitCode(typed))).toBe(secret)
  })

  test.each(accepted)('is written in one way: $title', async ({ secret, code }) => {
    expect(await formatKitCode(decodeBase64url(secret))).toBe(code)
  })

  test.each(refused)('is refused: $title', async ({ typed, expected }) => {
    await expect(parseKitCode(typed)).rejects.toThrow(isRefused(expected))
  })

  test('has 128 fresh bits each time, in seven groups of four', async () => {
    const codes = await Promise.all(Array.from({ length: 50 }, newKitCode))
    expect(new Set(codes).size).toBe(50)
    for (const code of codes) {
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){6}$/)
      expect(await parseKitCode(code)).toHaveLength(16)
    }
  })

  test('notices a mistyped character in the printed code', async () => {
    const code = accepted[0]!.code
    for (let at = 0; at < code.length; at++) {
      if (code[at] === '-') continue
      const typed = `${code.slice(0, at)}${code[at] === '7' ? '8' : '7'}${code.slice(at + 1)}`
      await expect(parseKitCode(typed), typed).rejects.toThrow(isRefused('malformed_code'))
    }
  })

  test('is made of 16 bytes only', async () => {
    await expect(formatKitCode(new Uint8Array(15))).rejects.toThrow(isRefused('invalid_argument'))
  })
})
