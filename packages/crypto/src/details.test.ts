import { describe, expect, test } from 'vitest'
import { openDetails, sealDetails } from './details.ts'
import { importDek, newDek, openSecret, sealSecret } from './secret.ts'

const dek = await importDek(newDek())
const [envId, name] = ['env_0000000000000000000000', 'API_KEY']
const details = { description: 'Reads the bucket. Für alle.', tags: ['google', 'payments'] }
const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

describe('an sd1 blob', () => {
  test('opens to the description and the tags that were sealed', async () => {
    const sealed = await sealDetails(details, dek, envId, name)
    expect(sealed).toMatch(/^sd1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/)
    expect(await openDetails(sealed, dek, envId, name)).toEqual(details)
  })

  test('does not open under another name, in another environment, or with another key', async () => {
    const sealed = await sealDetails(details, dek, envId, name)
    const other = await importDek(newDek())
    const openings = [
      openDetails(sealed, dek, envId, 'OTHER'),
      openDetails(sealed, dek, 'env_1111111111111111111111', name),
      openDetails(sealed, other, envId, name),
    ]
    await Promise.all(openings.map((opening) => expect(opening).rejects.toThrow(refused('decryption_failed'))))
  })

  test('is no value, and a value is no description, also with the other prefix', async () => {
    const sealed = await sealDetails(details, dek, envId, name)
    const value = await sealSecret(JSON.stringify(details), dek, envId, name)
    await expect(openSecret(sealed, dek, envId, name)).rejects.toThrow(refused('unsupported_prefix'))
    await expect(openSecret(sealed.replace('sd1', 'sc1'), dek, envId, name)).rejects.toThrow(
      refused('decryption_failed'),
    )
    await expect(openDetails(value.replace('sc1', 'sd1'), dek, envId, name)).rejects.toThrow(
      refused('decryption_failed'),
    )
  })

  test('is refused for an ambiguous place', async () => {
    await expect(sealDetails(details, dek, 'a/b', name)).rejects.toThrow(refused('invalid_argument'))
    await expect(sealDetails(details, dek, envId, '')).rejects.toThrow(refused('invalid_argument'))
  })
})
