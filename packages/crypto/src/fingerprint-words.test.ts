import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import vectors from '../vectors/keyring.json' with { type: 'json' }
import { fingerprintWords, thumbprintWords } from './fingerprint-words.ts'
import { generateKeyPair } from './keys.ts'
import { words } from './words.ts'

test('the list is the English one of BIP-39, unaltered', () => {
  const text = words.map((word) => `${word}\n`).join('')
  const digest = createHash('sha256').update(text).digest('hex')
  expect([words.length, digest]).toEqual([2048, '2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda'])
})

test.each(vectors.fingerprints)('words of a key: $words', async ({ publicKeyJwk, fingerprint, words: expected }) => {
  expect(await fingerprintWords(publicKeyJwk)).toBe(expected)
  expect(thumbprintWords(fingerprint)).toBe(expected)
  const bits = BigInt(`0x${Buffer.from(fingerprint, 'base64url').toString('hex')}`)
    .toString(2)
    .padStart(256, '0')
  expect(
    expected
      .split(' ')
      .map((word) => words.indexOf(word).toString(2).padStart(11, '0'))
      .join(''),
  ).toBe(bits.slice(0, 132))
})

test('two keys have different words, and a malformed key has none', async () => {
  const [one, two] = [await generateKeyPair(), await generateKeyPair()]
  expect(await fingerprintWords(one.publicKeyJwk)).not.toBe(await fingerprintWords(two.publicKeyJwk))
  await expect(fingerprintWords('{}')).rejects.toThrow(expect.objectContaining({ code: 'malformed_key' }))
})
