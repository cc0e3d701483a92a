import { describe, expect, test } from 'vitest'
import { otherHash } from '../../test/directory-scene.ts'
import published from '../../vectors/published.json' with { type: 'json' }
import { newToken, parseToken } from '../token.ts'
import { formatPin, parsePin } from './pin.ts'
import { formatPinnedToken, parsePinnedToken } from './pinned-token.ts'

const hash = otherHash
const malformedPins = [
  '',
  '@1',
  `${hash}@`,
  `${hash}@0`,
  `${hash}@1`,
  `${hash}@01`,
  `${hash}@-2`,
  `${hash}@+2`,
  `${hash}@2.5`,
  `${hash}@2@3`,
  `${hash}@2 `,
  `${hash}@9007199254740993`,
  `${hash}@99999999999999999999`,
  ` ${hash}`,
  `${hash}\n`,
  hash.slice(1),
  `${hash}A`,
  `${hash.slice(0, -1)}B`,
  `${hash}=`,
]

describe('a pin', () => {
  test.each([
    [hash, { root: hash, leastHead: 1 }],
    [`${hash}@2`, { root: hash, leastHead: 2 }],
    [`${hash}@9007199254740991`, { root: hash, leastHead: Number.MAX_SAFE_INTEGER }],
  ])('%s is read, and written in the same way', (text, pin) => {
    expect(parsePin(text)).toEqual(pin)
    expect(formatPin(pin)).toBe(text)
  })

  test.each(malformedPins)('%j is refused', (text) => {
    expect(() => parsePin(text)).toThrow(expect.objectContaining({ code: 'malformed_pin' }))
  })
})

describe('a token with a pin', () => {
  test('is read with its environment, and its bearer has nothing of what follows the first dot', async () => {
    const { token, bearer, publicKeyJwk } = await newToken('skerry')
    const pinned = await formatPinnedToken(token, { root: hash, leastHead: 7 }, 'shop/production')
    expect(pinned).toBe(`${token}.${hash}@7.shop/production`)
    expect(await parsePinnedToken(pinned)).toMatchObject({
      bearer,
      publicKeyJwk,
      pin: { root: hash, leastHead: 7 },
      environment: 'shop/production',
    })
    expect(bearer).toMatch(/^skt_[0-9A-Za-z]{22}_[A-Za-z0-9_-]{43}$/)
  })

  test('may be bound to no environment', async () => {
    const { token } = await newToken('skerry')
    const pinned = await formatPinnedToken(token, { root: hash, leastHead: 1 }, null)
    expect(pinned).toBe(`${token}.${hash}`)
    expect((await parsePinnedToken(pinned)).environment).toBeNull()
  })

  test('is refused by the parser of tokens without a pin, so that nothing uses it unchecked', async () => {
    const { token } = await newToken('skerry')
    await expect(parseToken(`${token}.${hash}`)).rejects.toMatchObject({ code: 'malformed_token' })
  })

  test('is refused if it is malformed', async () => {
    const { token } = await newToken('skerry')
    for (const text of [
      token,
      '',
      `.${hash}`,
      `${token}.${hash}.`,
      `${token}.${hash}.shop`,
      `${token}.${hash}.shop:production`,
      `${token}.${hash}.Shop/production`,
      `${token}.${hash}.shop/production/x`,
      `${token}.${hash}.shop/production.x`,
      `${token}.${hash}.shop/production\n`,
      `${token}.${hash}.shop/`,
      `${token}..shop/production`,
      ` ${token}.${hash}`,
      `${token}A.${hash}`,
      undefined as unknown as string,
    ])
      await expect(parsePinnedToken(text), text).rejects.toMatchObject({
        code: expect.stringMatching(/^malformed_(token|pin)$/),
      })
    for (const pin of malformedPins)
      await expect(parsePinnedToken(`${token}.${pin}`), pin).rejects.toMatchObject({
        code: expect.stringMatching(/^malformed_(token|pin)$/),
      })
  })

  test('is never one of the published format, whose bearer is the whole token', async () => {
    const { token } = published.token
    await expect(parsePinnedToken(`${token}.${hash}`)).rejects.toMatchObject({ code: 'malformed_token' })
    await expect(formatPinnedToken(token, { root: hash, leastHead: 1 }, null)).rejects.toMatchObject({
      code: 'malformed_token',
    })
  })

  test('is not written with a malformed environment', async () => {
    const { token } = await newToken('skerry')
    await expect(formatPinnedToken(token, { root: hash, leastHead: 1 }, 'x')).rejects.toMatchObject({
      code: 'malformed_token',
    })
  })
})
