import { sealDetails } from '@skerry/crypto/details'
import { newId } from '@skerry/crypto/random'
import { type Dek, importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { expect, test } from 'vitest'
import { findRekeyProblems } from './rekey-compare.ts'

const envId = newId('environment')
const [old, fresh] = [await importDek(newDek()), await importDek(newDek())]

const sealedUnder = async (key: Dek, values: Record<string, string>, descriptions: Record<string, string> = {}) => ({
  key,
  sealed: {
    secrets: await Promise.all(
      Object.entries(values).map(async ([name, value]) => ({
        name,
        ciphertext: await sealSecret(value, key, envId, name),
      })),
    ),
    details: await Promise.all(
      Object.entries(descriptions).map(async ([name, description]) => ({
        name,
        sealed: await sealDetails({ description, tags: [] }, key, envId, name),
      })),
    ),
  },
})
const find = findRekeyProblems.bind(null, envId)

test('the same values and descriptions under another key have no problem', async () => {
  const values = { HOST: 'db', EMPTY: '', TEXT: 'héllo\n🌍' }
  const described = { HOST: 'the database', LATER: 'does not exist yet' }
  expect(await find(await sealedUnder(old, values, described), await sealedUnder(fresh, values, described))).toEqual([])
})

test('a value that differs, is missing, or was added is named', async () => {
  const now = await sealedUnder(old, { A: 'one', B: 'two', C: 'three' })
  const proposed = await sealedUnder(fresh, { A: 'one', B: 'other', D: 'four' })
  expect(await find(now, proposed)).toEqual([
    { kind: 'secret', name: 'B', problem: 'differs' },
    { kind: 'secret', name: 'C', problem: 'missing' },
    { kind: 'secret', name: 'D', problem: 'added' },
  ])
})

test('a value that was moved from another name, or sealed under another key, does not open', async () => {
  const now = await sealedUnder(old, { A: 'one', B: 'two' })
  const proposed = await sealedUnder(fresh, { A: 'one', B: 'two' })
  const [a, b] = proposed.sealed.secrets
  const moved = [
    { name: 'A', ciphertext: b?.ciphertext ?? '' },
    { name: 'B', ciphertext: a?.ciphertext ?? '' },
  ]
  const swapped = { ...proposed, sealed: { ...proposed.sealed, secrets: moved } }
  expect((await find(now, swapped)).map(({ problem }) => problem)).toEqual(['unreadable', 'unreadable'])
  expect((await find(now, { ...now, key: fresh })).map(({ problem }) => problem)).toEqual(['unreadable', 'unreadable'])
})

test('a value that nobody can compare is named, and a description that nobody can read may be dropped', async () => {
  const now = await sealedUnder(fresh, { A: 'one' }, { A: 'of nobody' })
  const proposed = await sealedUnder(fresh, { A: 'one' })
  expect(await find({ ...now, key: old }, proposed)).toEqual([{ kind: 'secret', name: 'A', problem: 'unreadable_now' }])
})

test('a description that would be lost, or that differs, is named', async () => {
  const now = await sealedUnder(old, {}, { A: 'first', B: 'second' })
  const proposed = await sealedUnder(fresh, {}, { A: 'another' })
  expect(await find(now, proposed)).toEqual([
    { kind: 'description', name: 'A', problem: 'differs' },
    { kind: 'description', name: 'B', problem: 'missing' },
  ])
})
