import { describe, expect, test } from 'vitest'
import { firstBody } from '../../test/directory-scene.ts'
import published from '../../vectors/published.json' with { type: 'json' }
import { fingerprint } from '../digest.ts'
import { exportPrivateKey, generateKeyPair, importPrivateKey } from '../keys.ts'
import { formatKitCode, newKitCode } from '../kit-code.ts'
import { newSigningMaterial } from '../kms-sign.ts'
import { newToken } from '../token.ts'
import { parseDocument, signDocument } from './document.ts'
import {
  type DirectorySigner,
  newRescueCode,
  signerOfMachine,
  signerOfPerson,
  signerOfRescueCode,
  signerOfToken,
  validKids,
} from './signing.ts'

async function isUsable(signer: DirectorySigner): Promise<boolean> {
  const document = await parseDocument('or1', await signDocument('or1', firstBody, [signer]))
  return (await validKids(document, [signer])).has(await fingerprint(JSON.stringify(signer.jwk)))
}

describe('the signing key of a person', () => {
  test('signs, is the same every time, and is another key than the private key', async () => {
    const { privateKey, publicKeyJwk } = await generateKeyPair()
    const signer = await signerOfPerson(privateKey)
    expect(await isUsable(signer)).toBe(true)
    const again = await importPrivateKey(await exportPrivateKey(privateKey), { extractable: true })
    expect((await signerOfPerson(again)).kid).toBe(signer.kid)
    expect(signer.kid).not.toBe(await fingerprint(publicKeyJwk))
  })

  test('needs a private key that can be exported', async () => {
    const { privateKey } = await generateKeyPair()
    const sealed = await importPrivateKey(await exportPrivateKey(privateKey))
    await expect(signerOfPerson(sealed)).rejects.toMatchObject({ code: 'invalid_argument' })
  })
})

describe('the signing key of a token', () => {
  test('signs, and is another key than the one that is wrapped to', async () => {
    const { token, publicKeyJwk } = await newToken('skerry')
    const signer = await signerOfToken(token)
    expect(await isUsable(signer)).toBe(true)
    expect(signer.kid).not.toBe(await fingerprint(publicKeyJwk))
    expect((await signerOfToken(token)).kid).toBe(signer.kid)
  })

  test('does not exist for a token of the published format, and for a malformed one', async () => {
    for (const token of [published.token.token, (await newToken('classic')).token, 'skt_', ''])
      await expect(signerOfToken(token)).rejects.toMatchObject({ code: 'malformed_token' })
  })
})

test('a signing key of one machine signs', async () => {
  const { pkcs8, publicKeyJwk } = await newSigningMaterial('ecdsa-p256-sha256')
  const signer = await signerOfMachine(pkcs8)
  expect(signer.kid).toBe(await fingerprint(publicKeyJwk))
  expect(await isUsable(signer)).toBe(true)
  await expect(signerOfMachine(pkcs8.slice(1))).rejects.toMatchObject({ code: 'malformed_key' })
})

describe('the code of a rescue key', () => {
  test('gives the same signing key every time, however it is typed', async () => {
    const code = await newRescueCode()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){6}$/)
    const signer = await signerOfRescueCode(code)
    expect(await isUsable(signer)).toBe(true)
    expect((await signerOfRescueCode(code.toLowerCase().replaceAll('-', ' '))).kid).toBe(signer.kid)
    expect((await signerOfRescueCode(await newRescueCode())).kid).not.toBe(signer.kid)
  })

  test('is refused if it is mistyped, or the code of a recovery kit', async () => {
    const code = '0000-0000-0000-0000-0000-0000-0000'
    await expect(signerOfRescueCode(code)).rejects.toMatchObject({ code: 'malformed_code' })
    // One code of 4,096 has the check of both kinds, so that three fixed secrets are tried and no random one.
    for (const byte of [1, 2, 3])
      await expect(signerOfRescueCode(await formatKitCode(new Uint8Array(16).fill(byte)))).rejects.toMatchObject({
        code: 'malformed_code',
      })
    expect(await newKitCode()).toHaveLength(code.length)
  })
})
