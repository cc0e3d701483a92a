import { expect, test } from 'vitest'
import published from '../vectors/published.json' with { type: 'json' }
import { encodeUtf8 } from './base64url.ts'
import { fingerprint, sha256, tokenHash } from './digest.ts'

test('sha256 is SHA-256 (FIPS 180-4 example "abc")', async () => {
  expect(Buffer.from(await sha256(encodeUtf8('abc'))).toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

test('the hash of a published token is the one that its clients register', async () => {
  expect(await tokenHash(published.token.token)).toBe(published.token.tokenHash)
})

test('a bearer with a lone surrogate has no hash', async () => {
  await expect(tokenHash('skt_\ud800')).rejects.toThrow(expect.objectContaining({ code: 'malformed_text' }))
})

test('the fingerprint does not depend on the spelling of the key', async () => {
  const { publicKeyJwk, x, y } = published.token
  expect(await fingerprint(publicKeyJwk)).toBe(
    await fingerprint(JSON.stringify({ y, x, kid: '1', kty: 'EC', crv: 'P-256' })),
  )
  expect(await fingerprint(publicKeyJwk)).toMatch(/^[A-Za-z0-9_-]{43}$/)
})
