import { describe, expect, test } from 'vitest'
import { generateKeyPair } from './keys.ts'
import { combineShares, isShareOf, rewrapShare, splitRecoveryKey } from './recovery.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

const orgId = 'org_0000000000000000000000'

async function recovery(threshold = 3, count = 5) {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const shares = await splitRecoveryKey(privateKey, { orgId, threshold, count })
  return { publicKeyJwk, shares, place: (shareIndex: number) => ({ orgId, shareIndex, threshold }) }
}

describe('the recovery key', () => {
  test('is restored from any three of five shares, and opens what was wrapped to it', async () => {
    const { publicKeyJwk, shares } = await recovery()
    const dek = crypto.getRandomValues(new Uint8Array(32))
    const wrapped = await wrapKey(dek, publicKeyJwk)
    for (const some of [
      [0, 1, 2],
      [4, 2, 0],
      [1, 3, 4],
      [0, 1, 2, 3, 4],
    ]) {
      const key = await combineShares(
        some.map((index) => shares[index]!),
        publicKeyJwk,
      )
      expect(key.key.extractable).toBe(false)
      expect(await unwrapKey(wrapped, key)).toEqual(dek)
    }
  })

  test('is not restored from two shares, from one share given twice, or with a share of another key', async () => {
    const { publicKeyJwk, shares } = await recovery()
    const other = await recovery()
    const [a, b, c] = shares as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>]
    for (const wrong of [[a, b], [a], [], [a, b, b], [a, b, other.shares[2]!]])
      await expect(combineShares(wrong, publicKeyJwk)).rejects.toMatchObject({ code: 'decryption_failed' })
    await expect(combineShares([a, b, c], other.publicKeyJwk)).rejects.toMatchObject({ code: 'decryption_failed' })
  })
})

describe('a share', () => {
  test('is valid only for its key and its place, and not after one of its bits is changed', async () => {
    const { publicKeyJwk, shares, place } = await recovery()
    const other = await recovery()
    const share = shares[1]!
    expect(await isShareOf(share, publicKeyJwk, place(2))).toBe(true)
    expect(await isShareOf(share, publicKeyJwk, place(3))).toBe(false)
    expect(await isShareOf(share, publicKeyJwk, { ...place(2), threshold: 2 })).toBe(false)
    expect(await isShareOf(share, publicKeyJwk, { ...place(2), orgId: 'org_1111111111111111111111' })).toBe(false)
    expect(await isShareOf(share, other.publicKeyJwk, place(2))).toBe(false)
    for (const at of [0, 63, 64, share.length - 1]) {
      const changed = share.slice()
      changed[at]! ^= 1
      expect([at, await isShareOf(changed, publicKeyJwk, place(2))]).toEqual([at, false])
    }
    expect(await isShareOf(share.slice(0, 64), publicKeyJwk, place(2))).toBe(false)
    expect(await isShareOf(new Uint8Array(0), publicKeyJwk, place(2))).toBe(false)
  })

  test('is wrapped to a target only if it belongs to the recovery key that the custodian knows', async () => {
    const { publicKeyJwk, shares, place } = await recovery()
    const [custodian, target, stranger] = [await generateKeyPair(), await generateKeyPair(), await generateKeyPair()]
    const wrapped = await wrapKey(shares[0]!, custodian.publicKeyJwk)
    const give = (holder = custodian.privateKey, known = publicKeyJwk) =>
      rewrapShare(wrapped, holder, target.publicKeyJwk, known, place(1))
    expect(await unwrapKey(await give(), target.privateKey)).toEqual(shares[0])
    await expect(give(stranger.privateKey)).rejects.toMatchObject({ code: 'decryption_failed' })
    await expect(give(custodian.privateKey, stranger.publicKeyJwk)).rejects.toMatchObject({ code: 'decryption_failed' })
  })

  test('stays below the size limit of a wrapped key, and a threshold out of range is refused', async () => {
    const { publicKeyJwk, shares } = await recovery(2, 255)
    expect(shares).toHaveLength(255)
    expect((await wrapKey(shares[254]!, publicKeyJwk)).length).toBeLessThan(1000)
    const { privateKey } = await generateKeyPair()
    for (const [threshold, count] of [
      [1, 5],
      [6, 5],
      [2, 256],
      [2.5, 5],
    ] as const)
      await expect(splitRecoveryKey(privateKey, { orgId, threshold, count })).rejects.toMatchObject({
        code: 'invalid_argument',
      })
  })
})
