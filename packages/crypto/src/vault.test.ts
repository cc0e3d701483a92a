import { expect, test } from 'vitest'
import { generateKeyPair } from './keys.ts'
import { openCredential, sealCredential } from './vault.ts'

const place = { projectId: 'vpj_1', connectionId: 'vcn_1', providerId: 'acme', slot: 'api_key', revision: 1 } as const

test('a credential opens with the key of its executor, as the revision, slot and connection that it was sealed for', async () => {
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

test('two credentials of one place share nothing, though their text is the same', async () => {
  const { publicKeyJwk } = await generateKeyPair()
  const [a, b] = [await sealCredential('x', place, publicKeyJwk), await sealCredential('x', place, publicKeyJwk)]
  expect(a.ciphertext).not.toBe(b.ciphertext)
  expect(a.wrappedDek).not.toBe(b.wrappedDek)
})
