import { afterAll, beforeAll, expect, it } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// The server lists people under the names that they chose. Other people know them by their addresses.

let server: PeopleServer
let ada: PersonMachine
let bob: PersonMachine
let carol: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  ada = await newKeyHolder(server, 'ada@example.com')
  await ada.ok('skerry keys unlock && skerry org create Names && skerry init --yes --env development')
  await signsInAs('bob@example.com', 'Bob Builder')
  bob = await joined('bob@example.com', 'member')
  carol = await joined('carol@example.com', 'admin')
})
afterAll(async () => {
  await ada?.ok('skerry keys lock')
  for (const one of [ada, bob, carol]) await one?.remove()
  await server?.close()
})

async function joined(email: string, role: string): Promise<PersonMachine> {
  const person = await newKeyHolder(server, email)
  await ada.ok(`skerry invite create ${email} --role ${role}`)
  await person.ok('skerry invite accept')
  await ada.ok(`skerry grant ${email} --reader ${email}`)
  return person
}

/** The identity provider says the name with the first sign-in. */
async function signsInAs(email: string, name: string) {
  const bearer = await server.issuer.token({ sub: `sub-${email}`, email, email_verified: true, name })
  await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${bearer}` } })
}

it('the question about readers names people by address, also those who chose a name', async () => {
  expect(await ada.ok('skerry members ls')).toContain('Bob Builder')
  expect(await ada.ok('skerry env readers')).toMatch(/^bob@example\.com +person/m)
  const rekey = 'skerry env rekey shop/development --yes'
  const { code, stderr } = await carol.shell(rekey)
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('ada@example.com, bob@example.com would get the new key of shop/development'),
  ])
  const readers = '--reader ada@example.com --reader bob@example.com'
  expect(stderr).toContain(`run again with ${readers}\n`)
  expect(await carol.shell(`${rekey} ${readers}`)).toMatchObject({ code: 0 })
})
