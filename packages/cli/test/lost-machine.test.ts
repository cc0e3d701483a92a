import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksIn } from '../../site/test/blocks.ts'
import { type Machine, newMachine } from './machine.ts'
import {
  newKeyHolder,
  ok,
  openPeopleServer,
  type PeopleServer,
  type PersonMachine,
  passphrase,
  signIn,
} from './people.ts'

// Ada lost her laptop. The commands are those of docs/guides/lost-machine.md, in the order of the page.

const page = fileURLToPath(new URL('../../../docs/guides/lost-machine.md', import.meta.url))
const blocks = blocksIn(readFileSync(page, 'utf8')).filter(({ language }) => language === 'sh')
const [end, remove, revoke, list, spare, replace, again, alone, rekey] = blocks.map(({ text }) => text)

const ada = 'ada@example.com'
let server: PeopleServer
let laptop: Machine
let desktop: Machine
let bob: PersonMachine
beforeAll(async () => {
  server = await openPeopleServer()
  laptop = await newPersonalMachine()
  await ok(laptop, `skerry signup Acme --email ${ada}`)
  const bearer = await server.issuer.token({ sub: `sub-${ada}`, email: ada, email_verified: true })
  await ok(laptop, `SKERRY_TOKEN=${bearer} skerry invite accept`)
  await ok(laptop, 'skerry init --app shop && echo -n v | skerry secrets set A --env production')
  await signIn(server, laptop, ada, 'approve')
  await ok(laptop, `skerry keys init && skerry grant ${ada} --all --profile acme --yes`)
  bob = await newKeyHolder(server, 'bob@example.com')
  await ok(laptop, `skerry invite create ${bob.email} --role admin`)
  await bob.ok('skerry invite accept')
  for (const env of ['development', 'production'])
    await ok(laptop, `skerry grant ${bob.email} --env ${env} --reader ${bob.email}`)
  desktop = await newPersonalMachine()
  for (const one of [desktop, bob]) await one.write('skerry.json', await laptop.read('skerry.json'))
})
afterAll(async () => {
  for (const one of [laptop, desktop, bob]) await one?.remove()
  await server?.close()
})

/** A machine of Ada, with her passphrase in a file. */
async function newPersonalMachine(): Promise<Machine> {
  const machine = await newMachine(server.url)
  await machine.write('../passphrase', `${passphrase}\n`)
  Object.assign(machine.env, { SKERRY_KEYRING: 'off', SKERRY_PASSPHRASE_FILE: `${machine.home}/passphrase` })
  return machine
}

const exitOf = async (machine: Machine, command: string) => (await machine.shell(command)).code

test('Ada ends the session of the laptop from another machine', async () => {
  await signIn(server, desktop, ada, 'approve')
  const { sessions, currentSessionId } = JSON.parse(await ok(desktop, 'skerry sessions ls --json'))
  const { id } = sessions.find((one: { id: string }) => one.id !== currentSessionId)
  // Both machines of this test have one name.
  const text = end!.replace(/^skerry login .*$/m, '').replace('ada-laptop', id)
  expect(await ok(desktop, text)).toContain(hostname())
  expect(await exitOf(laptop, 'skerry whoami')).toBe(3)
  expect(await exitOf(desktop, 'skerry whoami')).toBe(0)
})

test('nobody else can end it, and an admin can remove its person', async () => {
  const carol = await newKeyHolder(server, 'carol@example.com')
  await bob.ok(`skerry invite create ${carol.email}`)
  await carol.ok('skerry invite accept acme && skerry app ls')
  expect(JSON.parse(await bob.ok('skerry sessions ls --json')).sessions).toEqual([])
  await bob.ok(remove!.replace(ada, carol.email))
  expect(await exitOf(carol, 'skerry app ls')).not.toBe(0)
  await carol.remove()
})

test('the token and the machine client of the laptop are revoked', async () => {
  expect(await exitOf(laptop, 'skerry whoami --profile acme')).toBe(0)
  await ok(desktop, revoke!.replaceAll('ada-laptop', hostname()))
  expect(await exitOf(laptop, 'skerry whoami --profile acme')).toBe(3)
})

test('a new key pair is shown what it loses, and gets access again by a token or an admin', async () => {
  const asked = await desktop.shell(list!)
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('no admin but you holds its key')])
  await ok(desktop, spare!.replace('--all', '--all --yes'))
  await desktop.write('../new', 'five other words of mine\n')
  // Without a terminal, the new passphrase comes from a file, and the code of the kit is not shown.
  const text = replace!.replace('--yes', '--yes --new-file ../new && cp ../new ../passphrase')
  await ok(desktop, text.replace('keys kit', 'keys kit --json'))
  expect(await exitOf(desktop, 'skerry secrets ls --env production')).not.toBe(0)
  const unknown = await bob.shell('skerry grant ada@example.com --app shop --env production')
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('compare their words')])
  await bob.ok(again!.replace(`trust ${ada}`, `trust ${ada} --yes`))
  expect(await ok(desktop, 'skerry run --env production -- printenv A')).toBe('v\n')
  await ok(desktop, alone!.replace('--all', `--all --yes --reader ${ada}`))
  expect(await exitOf(desktop, 'skerry run --env staging -- true')).toBe(0)
})

test('the environment gets a new key', async () => {
  await ok(desktop, rekey!.replace('--yes', `--yes --reader ${bob.email}`))
  expect(await ok(desktop, 'skerry run --env production -- printenv A')).toBe('v\n')
})
