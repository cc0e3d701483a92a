import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

let server: PeopleServer
let ada: PersonMachine
let number = 0

beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server?.close())

/** A person with keys who owns an organization of their own, with the environment shop/development. */
async function newOwner(): Promise<PersonMachine> {
  const person = await newKeyHolder(server, `ada${++number}@example.com`)
  await person.ok(`skerry org create "Signed ${number}" && skerry init --yes --env development`)
  return person
}

/** Another admin, whose key Ada knows, and who has the pin. */
async function newAdmin(owner: PersonMachine): Promise<PersonMachine> {
  const admin = await newKeyHolder(server, `bob${++number}@example.com`)
  await owner.ok(`skerry invite create ${admin.email} --role admin`)
  await admin.ok('skerry invite accept')
  await admin.write('skerry.json', await owner.read('skerry.json'))
  await owner.ok(`skerry members trust ${admin.email} --yes`)
  return admin
}

const verify = async (person: PersonMachine) => JSON.parse(await person.ok('skerry trust verify --json'))
const status = async (person: PersonMachine) => JSON.parse(await person.ok('skerry trust status --json'))
const unsigned = async (person: PersonMachine): Promise<string[]> =>
  (await status(person)).unsigned.map(({ text }: { text: string }) => text)

describe('a directory', () => {
  beforeEach(async () => {
    ada = await newOwner()
  })

  test('starts with an entry for everything, and its pin is printed and written into skerry.json', async () => {
    const pin = (await ada.ok('skerry trust init --yes')).trim()
    expect(pin).toMatch(/^[\w-]{43}$/)
    expect(JSON.parse(await ada.read('skerry.json')).pin).toBe(pin)
    expect(await verify(ada)).toMatchObject({ verified: true, root: 1, head: 1, entries: 2, unsigned: [] })
    expect((await ada.skerry(['trust', 'init', '--yes'])).code).toBe(5)
  })

  test('stays signed while a signer re-keys, grants, composes, creates and deletes', async () => {
    await ada.ok('skerry trust init --yes')
    const bob = await newAdmin(ada)
    await ada.ok(`skerry trust sign --yes`)
    for (const command of [
      `skerry grant ${bob.email} development --yes`,
      'skerry env rekey development --yes',
      'skerry group create shared && skerry env create development --group shared',
      'skerry compose set shared --env development --yes',
      'skerry token create ci --env development',
      'skerry token rename ci robot',
      'skerry env create staging',
      `skerry grant revoke ${bob.email} --env development --yes`,
      'skerry compose rm shared --env development --yes',
      'skerry token rm robot --yes',
      'skerry env rm staging --yes',
      'skerry group rm shared --yes',
      `skerry members rm ${bob.email} --yes`,
    ]) {
      const { code, stderr } = await ada.shell(command)
      expect([command, code, stderr]).toEqual([command, 0, expect.stringContaining('signed ')])
      expect(stderr, command).not.toContain('not signed')
      expect([command, await unsigned(ada)]).toEqual([command, []])
    }
    expect(await verify(ada)).toMatchObject({ verified: true, entries: 2 })
  })
})
