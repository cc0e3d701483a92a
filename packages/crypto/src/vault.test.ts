import { vaultRegistrationText } from '@skerry/contract/vault/facts'
import { expect, test } from 'vitest'
import { decodeBase64url, encodeUtf8 } from './base64url.ts'
import { generateKeyPair } from './keys.ts'
import { openCredential, sealCredential, signRegistration } from './vault.ts'

const place = { projectId: 'vpj_1', connectionId: 'vcn_1', providerId: 'acme', slot: 'api_key', revision: 1 } as const

test('a credential opens only with its executor’s key, for its own revision, slot and connection', async () => {
  const executor = await generateKeyPair()
  const sealed = await sealCredential('sk-secret', place, executor.publicKeyJwk)
  expect(await openCredential(sealed, place, executor.privateKey)).toBe('sk-secret')
  const others = [
    { ...place, revision: 2 },
    { ...place, slot: 'login' as const },
    { ...place, connectionId: 'vcn_2' },
    { ...place, providerId: 'other' },
    { ...place, projectId: 'vpj_2' },
  ]
  for (const other of others)
    await expect(openCredential(sealed, other, executor.privateKey)).rejects.toMatchObject({
      code: 'decryption_failed',
    })
  const stranger = await generateKeyPair()
  await expect(openCredential(sealed, place, stranger.privateKey)).rejects.toMatchObject({ code: 'decryption_failed' })
})

test('two credentials with the same text and place share nothing', async () => {
  const { publicKeyJwk } = await generateKeyPair()
  const [a, b] = [await sealCredential('x', place, publicKeyJwk), await sealCredential('x', place, publicKeyJwk)]
  expect(a.ciphertext).not.toBe(b.ciphertext)
  expect(a.wrappedDek).not.toBe(b.wrappedDek)
})

test('a registration is signed with the wrapping key, for one code and origin', async () => {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { kty, crv, x, y } = JSON.parse(publicKeyJwk)
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ecdsa, false, ['verify'])
  const signature = decodeBase64url(await signRegistration(privateKey, 'vrc_1', 'https://a.example'), 'malformed_text')
  const isOf = (code: string, origin: string) =>
    crypto.subtle.verify(ecdsa, key, signature, encodeUtf8(vaultRegistrationText(code, origin)))
  expect(await isOf('vrc_1', 'https://a.example')).toBe(true)
  expect(await isOf('vrc_2', 'https://a.example')).toBe(false)
  expect(await isOf('vrc_1', 'https://b.example')).toBe(false)
})
