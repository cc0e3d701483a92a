import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server adds keys to the list of missing keys, for people whose words were compared. Each test checks who gets
// a key.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
let liar: Liar
let alice: PersonMachine
let bob: PersonMachine
let carol: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  alice = await newKeyHolder(server, 'alice@example.com', liar.url)
  await alice.ok('skerry keys unlock && skerry org create "Teams" && skerry init --yes')
  bob = await joined('bob@example.com')
  carol = await joined('carol@example.com')
  await alice.ok('skerry teams create payments && skerry teams include payments bob@example.com carol@example.com')
  await alice.ok('skerry teams grant payments --app shop --env staging --env production')
})
afterEach(() => liar.repent())
afterAll(async () => {
  await alice.ok('skerry keys lock')
  await Promise.all([alice.remove(), bob.remove(), carol.remove()])
  await liar.close()
  await server.close()
})

/** Adds a person whose words Alice has compared. */
async function joined(email: string): Promise<PersonMachine> {
  const person = await newKeyHolder(server, email)
  await alice.ok(`skerry invite create ${email}`)
  await person.ok('skerry invite accept')
  await alice.ok(`skerry grant ${email} --env development --reader ${email}`)
  return person
}

const readersOf = (env: string) => alice.ok(`skerry grant ls --app shop --env ${env}`)
/** Rewrites the rows of the list of missing keys. */
const lieAbout = (rewrite: (row: Json) => Json) =>
  liar.lie(/\/missing-grants/, (body) => ({ ...body, missing: body.missing.map(rewrite) }))
const granted = () => liar.sent().filter((request) => request.startsWith('POST') && request.endsWith('/grants'))

it('a team that gets an environment grants nothing without a person, whoever the server lists', async () => {
  lieAbout((row) => row)
  await alice.ok('skerry teams grant payments shop/staging')
  expect(granted()).toEqual([])
})

it('missing keys are shown one pair a line, and are not granted without naming them', async () => {
  lieAbout((row) => row)
  const { code, stderr } = await alice.shell('skerry access complete')
  expect([code, granted()]).toEqual([2, []])
  for (const pair of ['staging to bob', 'production to bob', 'staging to carol', 'production to carol'])
    expect(stderr).toContain(`  shop/${pair}@example.com\n`)
  expect((await alice.shell('skerry access complete --yes')).code).toBe(2)
  expect((await alice.shell('skerry access complete shop/staging --yes')).code).toBe(2)
  expect(granted()).toEqual([])
})

it('a known person whom the server lists under the name of another gets nothing', async () => {
  lieAbout((row) => (row.email === carol.email ? { ...row, email: bob.email } : { ...row, email: carol.email }))
  const { stderr } = await alice.shell(`skerry access complete shop/staging --member ${bob.email} --yes`)
  expect(stderr).toContain(`not as ${carol.email}`)
  expect(granted()).toEqual([])
})

it('--yes grants the pairs that the command names, and no other pair that the server lists', async () => {
  lieAbout((row) => row)
  await alice.ok(`skerry access complete shop/staging --member ${bob.email} --yes`)
  expect(granted()).toHaveLength(1)
  expect(await readersOf('staging')).toContain(bob.email)
  expect(await readersOf('staging')).not.toContain(carol.email)
  expect(await readersOf('production')).not.toContain(bob.email)
})
