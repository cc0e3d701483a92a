import { describe, expect, test } from 'vitest'
import { generateKeyPair, importPrivateScalar, publicKeyJwkOf } from './keys.ts'
import { openOverride, sealOverride } from './override.ts'
import { importDek, newDek, openSecret } from './secret.ts'
import { unwrapKey, unwrapOwn, wrapKey, wrapToSelf } from './wrap.ts'

const { privateKey } = await generateKeyPair()
const place = { orgId: 'org_1', environmentId: 'env_1', userId: 'usr_1' }
const override = { name: 'DATABASE_URL', value: 'postgres://localhost\nfür mich', revision: 3 }
const example = {
  wrappedKey:
    'wd1.BFFZC3pRUUDS14TIVghmj9_vjIL9H1vlJCFVSg3D0DPt4MF9qJBKcn2K4b82v4p5Jg0BLwDU2AiI0dC7RP2hbaQ.bx-OfVJ_ubbqp9ZMTI_IUw.8oLchUgDU2UxoVMb.XL-acdLUrqyMO5jWWg_cAXFahlCwqDOxi1NXvkN6gOouJle-XO6wZdKUWMM4ebxU',
  ciphertext: 'so1.5rQSLIiEHuoAl_o-.tdKiB-2ggAcV9PuPeCru9UgxSyrNLC9pj4a6',
}
const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

describe('an so1 blob', () => {
  test('opens to the name, the value and the revision that were sealed', async () => {
    const sealed = await sealOverride(override, privateKey, place)
    expect(sealed.ciphertext).toMatch(/^so1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/)
    expect(await openOverride(sealed, privateKey, place)).toEqual(override)
    const empty = { name: 'EMPTY', value: '', revision: 1 }
    expect(await openOverride(await sealOverride(empty, privateKey, place), privateKey, place)).toEqual(empty)
  })

  test('does not open for another person, in another environment or organization, or with the key of another', async () => {
    const [one, two] = [
      await sealOverride(override, privateKey, place),
      await sealOverride(override, privateKey, place),
    ]
    const { privateKey: other } = await generateKeyPair()
    for (const open of [
      () => openOverride(one, other, place),
      () => openOverride(one, privateKey, { ...place, orgId: 'org_2' }),
      () => openOverride(one, privateKey, { ...place, environmentId: 'env_2' }),
      () => openOverride(one, privateKey, { ...place, userId: 'usr_2' }),
      () => openOverride({ ...one, wrappedKey: two.wrappedKey }, privateKey, place),
    ])
      await expect(open()).rejects.toThrow(refused('decryption_failed'))
  })

  test('is refused if anybody else made it for the person, although the public key is known', async () => {
    const sealed = await sealOverride(override, privateKey, place)
    const bytes = await unwrapOwn(sealed.wrappedKey, privateKey)
    const { privateKey: forger } = await generateKeyPair()
    for (const wrappedKey of [await wrapKey(bytes, publicKeyJwkOf(privateKey)), await wrapToSelf(bytes, forger)])
      await expect(openOverride({ ...sealed, wrappedKey }, privateKey, place)).rejects.toThrow(
        refused('decryption_failed'),
      )
  })

  test('is no value of a secret, also with the other prefix', async () => {
    const { wrappedKey, ciphertext } = await sealOverride(override, privateKey, place)
    const dek = await importDek(await unwrapOwn(wrappedKey, privateKey))
    await expect(openSecret(ciphertext.replace('so1', 'sc1'), dek, 'env_1', override.name)).rejects.toThrow(
      refused('decryption_failed'),
    )
  })

  test('of the published example opens, so that later releases read what this one stores', async () => {
    expect(await openOverride(example, await importPrivateScalar(5n), place)).toEqual({
      name: 'PORT',
      value: '3001',
      revision: 1,
    })
  })

  test('is refused for an ambiguous place or name, or a revision below 1', async () => {
    const wrong = [
      [override, { ...place, orgId: 'a/b' }],
      [override, { ...place, userId: '' }],
      [{ ...override, name: 'A\nB' }, place],
      [{ ...override, name: '' }, place],
      [{ ...override, revision: 0 }, place],
    ] as const
    for (const [given, at] of wrong)
      await expect(sealOverride(given, privateKey, at)).rejects.toThrow(refused('invalid_argument'))
  })
})

describe('a key that a person wrapped to themselves', () => {
  test('opens as any wrapped key does, also in a program that keeps the private key elsewhere', async () => {
    const bytes = newDek()
    const remote = {
      point: privateKey.point,
      unwrap: (blob: string) => unwrapKey(blob, privateKey),
      wrapToSelf: (own: typeof bytes) => wrapToSelf(own, privateKey),
    }
    const blob = await wrapToSelf(bytes, remote)
    for (const holder of [privateKey, remote]) expect(await unwrapOwn(blob, holder)).toEqual(bytes)
    await expect(wrapToSelf(bytes, { point: remote.point, unwrap: remote.unwrap })).rejects.toThrow(
      refused('invalid_argument'),
    )
  })
})
