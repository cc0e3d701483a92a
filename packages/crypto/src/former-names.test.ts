import { limits } from '@skerry/contract/limits'
import { describe, expect, test } from 'vitest'
import {
  ciphertextDigest,
  type FormerName,
  fitsRecord,
  openFormerNames,
  openVersion,
  sealFormerNames,
} from './former-names.ts'
import { importDek, newDek, openSecret, sealSecret } from './secret.ts'

const dek = await importDek(newDek())
const envId = 'env_0000000000000000000000'
const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })
const sealUnder = (name: string, value: string) => sealSecret(value, dek, envId, name)
const former = async (name: string, since: number, ciphertexts: string[]): Promise<FormerName> => ({
  name,
  since,
  digests: await Promise.all(ciphertexts.map(ciphertextDigest)),
})

describe('an sn1 blob', () => {
  const names = [{ name: 'OLD', since: 3, digests: ['a', 'b'] }]

  test('opens to the names that were sealed', async () => {
    const record = await sealFormerNames(names, dek, envId, 'NEW')
    expect(record).toMatch(/^sn1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/)
    expect(await openFormerNames(record, dek, envId, 'NEW')).toEqual(names)
  })

  test('does not open under another name, in another environment, or with another key', async () => {
    const record = await sealFormerNames(names, dek, envId, 'NEW')
    const other = await importDek(newDek())
    const openings = [
      openFormerNames(record, dek, envId, 'OLD'),
      openFormerNames(record, dek, 'env_1111111111111111111111', 'NEW'),
      openFormerNames(record, other, envId, 'NEW'),
    ]
    await Promise.all(openings.map((opening) => expect(opening).rejects.toThrow(refused('decryption_failed'))))
  })

  test('is no value, and a value is no record, also with the other prefix', async () => {
    const record = await sealFormerNames(names, dek, envId, 'NEW')
    const value = await sealUnder('NEW', JSON.stringify(names))
    await expect(openSecret(record.replace('sn1', 'sc1'), dek, envId, 'NEW')).rejects.toThrow(
      refused('decryption_failed'),
    )
    await expect(openFormerNames(value.replace('sc1', 'sn1'), dek, envId, 'NEW')).rejects.toThrow(
      refused('decryption_failed'),
    )
  })

  test('holds the newest names and versions, and fits into its limit', async () => {
    const long = (index: number) => `N${index}_`.padEnd(255, 'X')
    const many = Array.from({ length: 30 }, (_, index) => ({
      name: long(index),
      since: 1 + index * 60,
      digests: Array.from({ length: 60 }, (_, at) => `${index}-${at}`.padEnd(22, '-')),
    }))
    const record = await sealFormerNames(many, dek, envId, 'NEW')
    expect(record.length).toBeLessThanOrEqual(limits.formerNamesCharacters)
    const opened = await openFormerNames(record, dek, envId, 'NEW')
    expect(opened.flatMap(({ digests }) => digests)).toHaveLength(limits.formerVersionsMax)
    expect(opened.at(-1)).toEqual(many.at(-1))
    const [oldest] = opened
    const from = many.find(({ name }) => name === oldest?.name)
    expect(oldest?.digests).toEqual(from?.digests.slice((oldest?.since ?? 0) - (from?.since ?? 0)))
  })
})

describe('a version of a renamed secret', () => {
  test('opens under the name that it was encrypted under, and a later one under the present name', async () => {
    const [first, second, third] = [
      await sealUnder('A', 'one'),
      await sealUnder('B', 'two'),
      await sealUnder('C', 'three'),
    ]
    const names = [await former('A', 1, [first]), await former('B', 2, [second])]
    const open = (version: number, ciphertext: string) => openVersion({ version, ciphertext }, names, dek, envId, 'C')
    expect([await open(1, first), await open(2, second), await open(3, third)]).toEqual([
      { value: 'one', name: 'A' },
      { value: 'two', name: 'B' },
      { value: 'three', name: 'C' },
    ])
    const all = [first, second, third].map((ciphertext, index) => ({ version: index + 1, ciphertext }))
    expect(await Promise.all(all.map((one) => fitsRecord(one, names)))).toEqual([true, true, true])
  })

  test('does not open if it is a value of another secret, also one that has the former name today', async () => {
    const first = await sealUnder('A', 'one')
    const names = [await former('A', 1, [first])]
    for (const ciphertext of [await sealUnder('A', 'of the new A'), await sealUnder('OTHER', 'x')])
      await expect(openVersion({ version: 1, ciphertext }, names, dek, envId, 'B')).rejects.toThrow(
        refused('decryption_failed'),
      )
    await expect(openVersion({ version: 2, ciphertext: first }, names, dek, envId, 'B')).rejects.toThrow(
      refused('decryption_failed'),
    )
  })

  test('does not fit the record if it is older than the record goes', async () => {
    const [dropped, kept] = [await sealUnder('A', 'zero'), await sealUnder('B', 'one')]
    const names = [await former('B', 2, [kept])]
    expect(await fitsRecord({ version: 1, ciphertext: dropped }, names)).toBe(false)
    for (const name of ['B', 'C'])
      await expect(openVersion({ version: 1, ciphertext: dropped }, names, dek, envId, name)).rejects.toThrow(
        refused('decryption_failed'),
      )
  })

  test('opens under the present name, whatever a wrong record says of it, and then does not fit the record', async () => {
    const [second, other] = [await sealUnder('B', 'two'), await sealUnder('B', 'other')]
    for (const [record, fits] of [
      [await former('A', 1, [other, other, other]), false],
      [await former('A', 9, [other]), false],
      [await former('A', 2, [second]), true],
      [await former('A', 1, [other]), true],
    ] as const) {
      const stored = { version: 2, ciphertext: second }
      expect(await openVersion(stored, [record], dek, envId, 'B')).toEqual({ value: 'two', name: 'B' })
      expect(await fitsRecord(stored, [record])).toBe(fits)
    }
  })
})
