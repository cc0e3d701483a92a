import { expect, it } from 'vitest'
import type { Json } from './liar.ts'
import { openLiedTo } from './liar-scene.ts'

// A malicious server shows a value of another secret as an earlier version of a renamed one. A user who restores that
// version would give it to programs which must not have it.

const { liar, alice } = await openLiedTo('Renames')
await alice.ok('echo -n first | skerry secrets set OLD && skerry secrets rename OLD NEW')
await alice.ok('echo -n second | skerry secrets set NEW')
await alice.ok('echo -n of-another-secret | skerry secrets set OLD && echo -n private | skerry secrets set OTHER')

const historyOf = async (name: string) => {
  await alice.ok(`skerry secrets history ${name}`)
  return liar.heard(/\/versions/) as Json
}
/** Shows another ciphertext as version 1. */
const withFirst = (more: Json) => (body: Json) => ({
  ...body,
  versions: body.versions.map((one: Json) => (one.version === 1 ? { ...one, ...more } : one)),
})
const shown = async () => {
  const { stdout, stderr } = await alice.shell('skerry secrets history NEW --reveal --json')
  const values = JSON.parse(stdout).versions.map(({ value }: Json) => value)
  return { values, stderr }
}

it('an earlier version opens under the name that it was encrypted under, while nobody lies', async () => {
  expect((await shown()).values).toEqual(['second', 'first', 'first'])
})

it.each([
  ['another name', 'OTHER', 'OTHER'],
  ['the former name, which another secret has today', 'OLD', 'OLD'],
])(
  'a value that was encrypted under %s is not shown as an earlier version, and not restored',
  async (_, other, name) => {
    const [first] = (await historyOf(other)).versions
    liar.lie(/\/secrets\/NEW\/versions/, withFirst({ ciphertext: first.ciphertext, formerName: name }))
    const { values, stderr } = await shown()
    expect(values).toEqual(['second', 'first', null])
    expect(stderr).toContain('does not open 1: older than it, or altered')
    expect(stderr).toContain('nothing proves that version 1 is of NEW')
    const { code, stderr: error } = await alice.shell('skerry secrets restore NEW 1')
    expect([code, error]).toEqual([1, expect.stringContaining('cannot be decrypted: secret NEW')])
    expect(liar.sent().filter((line) => line.includes('/restore'))).toHaveLength(1)
    expect((await alice.ok('skerry secrets get NEW --reveal')).trim()).toBe('second')
  },
)

it('the record of former names of another secret opens no version from before the rename', async () => {
  await alice.ok('echo -n x | skerry secrets set MINE && skerry secrets rename MINE YOURS')
  const { formerNames, versions } = await historyOf('YOURS')
  const lie = withFirst({ ciphertext: versions.at(-1).ciphertext, formerName: 'MINE' })
  liar.lie(/\/secrets\/NEW\/versions/, (body) => ({ ...lie(body), formerNames }))
  const { values, stderr } = await shown()
  expect(values).toEqual(['second', 'first', null])
  expect(stderr).toContain('nothing proves that version 1 is of NEW')
})

it('a later value is not shown as a version from before the rename without a warning', async () => {
  const [, second] = (await historyOf('NEW')).versions
  liar.lie(/\/secrets\/NEW\/versions/, withFirst({ ciphertext: second.ciphertext, formerName: null }))
  expect((await shown()).stderr).toContain('nothing proves that version 1 is of NEW')
})

it('a later value that is shown with the former name as a version from before the rename is not restored', async () => {
  const [, second] = (await historyOf('NEW')).versions
  liar.lie(/\/secrets\/NEW\/versions/, withFirst({ ciphertext: second.ciphertext, formerName: 'OLD' }))
  const { code, stderr } = await alice.shell('skerry secrets restore NEW 1')
  expect([code, stderr]).toEqual([1, expect.stringContaining('nothing proves that version 1 is one of its versions')])
  expect((await alice.ok('skerry secrets get NEW --reveal')).trim()).toBe('second')
})

it('later versions open despite a wrong record of somebody with the key, and the secret can be renamed again', async () => {
  await alice.ok('echo -n x | skerry secrets set WAS && skerry secrets rename WAS IS')
  const { formerNames } = await historyOf('YOURS')
  liar.lie(/\/secrets\/IS\/versions/, (body) => ({ ...body, formerNames }))
  const { stderr } = await alice.shell('skerry secrets rename IS WILL_BE')
  expect(stderr).toContain('renamed IS to WILL_BE')
  expect(stderr).toContain('nothing proves that version 1 is of WILL_BE')
  liar.repent()
  const { stdout } = await alice.shell('skerry secrets history WILL_BE --reveal --json')
  expect(JSON.parse(stdout).versions.map(({ value }: Json) => value)).toEqual(['x', 'x', null])
})
