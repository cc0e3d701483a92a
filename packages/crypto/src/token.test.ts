import { describe, expect, test } from 'vitest'
import published from '../vectors/published.json' with { type: 'json' }
import vectors from '../vectors/tokens.json' with { type: 'json' }
import { encodeBase64url } from './base64url.ts'
import { tokenHash } from './digest.ts'
import { parsePublicKeyJwk } from './keys.ts'
import { randomBytes } from './random.ts'
import { newToken, parseToken } from './token.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

const refused = expect.objectContaining({ name: 'CryptoError', code: 'malformed_token' })

describe('a token of the skerry format', () => {
  test.each(vectors.derived)('$token gives the bearer and the key of its vector', async (row) => {
    const parsed = await parseToken(row.token)
    expect(parsed).toMatchObject({
      tokenId: row.tokenId,
      format: 'skerry',
      bearer: row.bearer,
      publicKeyJwk: row.publicKeyJwk,
    })
    expect(await tokenHash(parsed.bearer)).toBe(row.tokenHash)
    const bytes = randomBytes(32)
    expect(await unwrapKey(await wrapKey(bytes, row.publicKeyJwk), parsed.privateKey)).toEqual(bytes)
  })

  test('sends a bearer that is not the token and does not reveal its key', async () => {
    const made = await newToken('skerry')
    expect(made.bearer).not.toBe(made.token)
    expect(made.bearer).toMatch(new RegExp(`^${made.tokenId}_[A-Za-z0-9_-]{43}$`))
    expect((await parseToken(made.bearer)).publicKeyJwk).not.toBe(made.publicKeyJwk)
  })

  test('has another bearer and another key under another id', () => {
    const bySeed = Map.groupBy(vectors.derived, (row) => row.seed)
    for (const rows of bySeed.values()) {
      expect(new Set(rows.map((row) => row.bearer.split('_')[2])).size).toBe(rows.length)
      expect(new Set(rows.map((row) => row.publicKeyJwk)).size).toBe(rows.length)
    }
  })
})

describe('a token of the published format', () => {
  test('is parsed, and is sent whole as the bearer', async () => {
    const parsed = await parseToken(published.token.token)
    expect(parsed).toMatchObject({
      tokenId: published.token.tokenId,
      format: 'classic',
      bearer: published.token.token,
    })
    expect(parsePublicKeyJwk(parsed.publicKeyJwk)).toEqual(parsePublicKeyJwk(published.token.publicKeyJwk))
  })

  test('is made in the same shape: id, PKCS8 of 138 bytes', async () => {
    const made = await newToken('classic')
    expect(made.token).toMatch(/^skt_[0-9A-Za-z]{22}_[A-Za-z0-9_-]{184}$/)
    expect(made.bearer).toBe(made.token)
  })

  test('may contain underscores and hyphens in its key part', async () => {
    for (let seen = 0; seen < 3; ) {
      const { token, publicKeyJwk } = await newToken('classic')
      if (!/_.*_.*_/.test(token)) continue
      seen++
      expect((await parseToken(token)).publicKeyJwk).toBe(publicKeyJwk)
    }
  })
})

describe.each(['skerry', 'classic'] as const)('a new %s token', (format) => {
  test('is parsed into the same data, and its key opens what is wrapped to it', async () => {
    const { token, tokenHash: hash, privateKey, ...made } = await newToken(format)
    const { privateKey: again, ...parsed } = await parseToken(token)
    expect(parsed).toEqual(made)
    expect(hash).toBe(await tokenHash(made.bearer))
    const blob = await wrapKey(randomBytes(32), made.publicKeyJwk)
    expect(await unwrapKey(blob, privateKey)).toEqual(await unwrapKey(blob, again))
  })

  test('has a private key that cannot be exported', async () => {
    const { privateKey } = await newToken(format)
    expect(privateKey.key.extractable).toBe(false)
  })

  test('differs from the token before', async () => {
    const [first, second] = [await newToken(format), await newToken(format)]
    for (const member of ['token', 'tokenId', 'bearer', 'tokenHash', 'publicKeyJwk'] as const) {
      expect(first[member]).not.toBe(second[member])
    }
  })
})

describe('a malformed token', () => {
  test.each(vectors.refused)('is refused, and the error does not repeat it: $title', async ({ token }) => {
    await expect(parseToken(token)).rejects.toThrow(refused)
    const message = await parseToken(token).catch((error: Error) => error.message)
    const keyPart = token.split('_').slice(2).join('_')
    if (keyPart.length > 8) expect(message).not.toContain(keyPart)
  })

  test('is refused if its key part has another length than a seed or a private key', async () => {
    for (const length of [...Array(137).keys(), 139, 200, 1000]) {
      if (length === 32) continue
      const token = `skt_6EYgmoh8LuiPPAbM0SaVtc_${encodeBase64url(new Uint8Array(length).fill(0x30))}`
      await expect(parseToken(token)).rejects.toThrow(refused)
    }
  })

  test('is refused if it is not a string', async () => {
    await expect(parseToken(undefined as unknown as string)).rejects.toThrow(refused)
  })
})
