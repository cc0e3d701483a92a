import { argon2Sync, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import vectors from '../vectors/keyring.json' with { type: 'json' }
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import {
  defaultPassphraseCost,
  openWithKitCode,
  openWithPasskey,
  openWithPassphrase,
  passphraseProblem,
  sealWithKitCode,
  sealWithPasskey,
  sealWithPassphrase,
} from './keyring.ts'
import { exportPrivateKey, generateKeyPair, publicKeyJwkOf } from './keys.ts'
import { newKitCode } from './kit-code.ts'

const { userId, passphrase, credentialId, pkcs8, publicKeyJwk, kitCode } = vectors
const prfOutput = decodeBase64url(vectors.prfOutput)
const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })
const cheap = { memoryKiB: 19_456, passes: 2, lanes: 1 }

interface Row {
  title: string
  blob: string
  userId?: string
  passphrase?: string
  credentialId?: string
  prfOutput?: string
  kitCode?: string
  publicKeyJwk?: string
}
const underPassphrase = (row: Row) =>
  openWithPassphrase(row.blob, row.passphrase ?? passphrase, row.userId ?? userId, { extractable: true })
const underPasskey = (row: Row) => {
  const output = row.prfOutput === undefined ? prfOutput : decodeBase64url(row.prfOutput)
  return openWithPasskey(row.blob, output, row.userId ?? userId, row.credentialId ?? credentialId, {
    extractable: true,
  })
}

const underKitCode = (row: Row) => {
  const whose = { userId: row.userId ?? userId, publicKeyJwk: row.publicKeyJwk ?? publicKeyJwk }
  return openWithKitCode(row.blob, row.kitCode ?? kitCode, whose, { extractable: true })
}

/** Decrypts a blob with Node's OpenSSL, without code of this package and without the Argon2id library that it uses. */
function decrypt(key: Buffer, iv: string, sealed: string, aad: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'))
  decipher.setAAD(Buffer.from(aad)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('base64url')
}

describe('a key sealed under a passphrase', () => {
  test.each(vectors.passphraseSealed.accepted)('opens: $title', async (row) => {
    const privateKey = await underPassphrase(row)
    expect(publicKeyJwkOf(privateKey)).toBe(publicKeyJwk)
    expect(encodeBase64url(await exportPrivateKey(privateKey))).toBe(pkcs8)
  })

  test.each(vectors.passphraseSealed.accepted)('decrypts with OpenSSL too: $title', (row) => {
    const [, parameters, salt, iv, ciphertext] = row.blob.split('.') as [string, string, string, string, string]
    const [memory, passes, parallelism] = parameters.split('-').map(Number) as [number, number, number]
    const key = argon2Sync('argon2id', {
      message: row.passphrase.normalize('NFKC'),
      nonce: Buffer.from(salt, 'base64url'),
      memory,
      passes,
      parallelism,
      tagLength: 32,
    })
    expect(decrypt(key, iv, ciphertext, `skerry/pk1/${userId}`)).toBe(pkcs8)
  })

  test.each(vectors.passphraseSealed.refused)('is refused: $title', async (row) => {
    await expect(underPassphrase(row)).rejects.toThrow(refused(row.expected))
  })

  test('has the cost 65536-3-1 by default, and never the same bytes twice', async () => {
    expect(defaultPassphraseCost).toEqual({ memoryKiB: 65_536, passes: 3, lanes: 1 })
    const { privateKey } = await generateKeyPair()
    const [one, two] = [
      await sealWithPassphrase(privateKey, passphrase, userId),
      await sealWithPassphrase(privateKey, passphrase, userId),
    ]
    expect(one).toMatch(/^pk1\.65536-3-1\.[\w-]{22}\.[\w-]{16}\.[\w-]+$/)
    for (const segment of [2, 3, 4]) expect(one.split('.')[segment]).not.toBe(two.split('.')[segment])
    expect(publicKeyJwkOf(await openWithPassphrase(one, passphrase, userId))).toBe(publicKeyJwkOf(privateKey))
  })

  test('cannot be exported after opening, by default', async () => {
    const { blob } = vectors.passphraseSealed.accepted[0]!
    const privateKey = await openWithPassphrase(blob, passphrase, userId)
    await expect(exportPrivateKey(privateKey)).rejects.toThrow(refused('invalid_argument'))
  })

  test('is never made under a weak passphrase, or at a cost that would be refused at opening', async () => {
    const { privateKey } = await generateKeyPair()
    const seal = (text: string, cost = cheap) => sealWithPassphrase(privateKey, text, userId, cost)
    await expect(seal('too short')).rejects.toThrow(refused('weak_passphrase'))
    await expect(seal(passphrase, { ...cheap, passes: 1 })).rejects.toThrow(refused('kdf_too_weak'))
    await expect(seal(passphrase, { ...cheap, memoryKiB: 2 ** 30 })).rejects.toThrow(refused('kdf_too_strong'))
    await expect(seal(passphrase, { ...cheap, passes: 2.5 })).rejects.toThrow(refused('invalid_argument'))
  })

  test.each([
    ['', false],
    ['elevenchars', false],
    ['aaaaaaaaaaaaaaaaaaaa', false],
    ['            a           ', false],
    ['twelve chars', true],
    ['日本語のパスフレーズです', true],
  ])('a passphrase of %j is strong enough: %s', (text, strong) => {
    expect(passphraseProblem(text) === null).toBe(strong)
  })
})

describe('a key sealed under a passkey', () => {
  test.each(vectors.passkeySealed.accepted)('opens: $title', async (row) => {
    expect(encodeBase64url(await exportPrivateKey(await underPasskey(row)))).toBe(pkcs8)
  })

  test.each(vectors.passkeySealed.accepted)('decrypts with OpenSSL too: $title', ({ blob }) => {
    const [, salt, iv, ciphertext] = blob.split('.') as [string, string, string, string]
    const info = 'skerry/keyring/passkey/v1'
    const key = Buffer.from(hkdfSync('sha256', prfOutput, Buffer.from(salt, 'base64url'), info, 32))
    expect(decrypt(key, iv, ciphertext, `skerry/pk2/${userId}/${credentialId}`)).toBe(pkcs8)
  })

  test.each(vectors.passkeySealed.refused)('is refused: $title', async (row) => {
    await expect(underPasskey(row)).rejects.toThrow(refused(row.expected))
  })

  test('opens with its passkey, and shares no segment with another sealing of the same key', async () => {
    const { privateKey } = await generateKeyPair()
    const [one, two] = [
      await sealWithPasskey(privateKey, prfOutput, userId, credentialId),
      await sealWithPasskey(privateKey, prfOutput, userId, credentialId),
    ]
    expect(one).toMatch(/^pk2\.[\w-]{22}\.[\w-]{16}\.[\w-]+$/)
    for (const segment of [1, 2, 3]) expect(one.split('.')[segment]).not.toBe(two.split('.')[segment])
    expect(publicKeyJwkOf(await openWithPasskey(one, prfOutput, userId, credentialId))).toBe(publicKeyJwkOf(privateKey))
  })
})

describe('a key sealed under the code of a recovery kit', () => {
  test.each(vectors.kitSealed.accepted)('opens: $title', async (row) => {
    expect(encodeBase64url(await exportPrivateKey(await underKitCode(row)))).toBe(pkcs8)
  })

  test.each(vectors.kitSealed.accepted)('decrypts with OpenSSL too: $title', ({ blob }) => {
    const [, salt, iv, ciphertext] = blob.split('.') as [string, string, string, string]
    const secret = Buffer.from(vectors.kitCodes.accepted[0]!.secret, 'base64url')
    const info = 'skerry/keyring/recovery-kit/v1'
    const key = Buffer.from(hkdfSync('sha256', secret, Buffer.from(salt, 'base64url'), info, 32))
    const thumbprint = createHash('sha256').update(publicKeyJwk).digest('base64url')
    expect(decrypt(key, iv, ciphertext, `skerry/pk3/${userId}/${thumbprint}`)).toBe(pkcs8)
  })

  test.each(vectors.kitSealed.refused)('is refused: $title', async (row) => {
    await expect(underKitCode(row)).rejects.toThrow(refused(row.expected))
  })

  test('opens with its code for its person and key pair, and shares no segment with another sealing of the same key', async () => {
    const { privateKey, publicKeyJwk: own } = await generateKeyPair()
    const code = await newKitCode()
    const [one, two] = [
      await sealWithKitCode(privateKey, code, userId),
      await sealWithKitCode(privateKey, code, userId),
    ]
    expect(one).toMatch(/^pk3\.[\w-]{22}\.[\w-]{16}\.[\w-]+$/)
    for (const segment of [1, 2, 3]) expect(one.split('.')[segment]).not.toBe(two.split('.')[segment])
    const opened = await openWithKitCode(one, code, { userId, publicKeyJwk: own })
    expect(publicKeyJwkOf(opened)).toBe(own)
    await expect(exportPrivateKey(opened)).rejects.toThrow(refused('invalid_argument'))
  })
})
