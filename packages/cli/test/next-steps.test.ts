import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKeyHolder, newPersonMachine, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// The words and names that people type first are understood, or answered with the command that works.

let server: PeopleServer
let ada: PersonMachine
let bo: PersonMachine
beforeAll(async () => {
  server = await openPeopleServer()
  ada = await newKeyHolder(server, 'ada@example.com')
  bo = await newKeyHolder(server, 'bo@example.com')
  await ada.ok('skerry org create Steps && skerry init --app shop --yes && skerry app create web')
  await ada.ok('skerry teams create backend && skerry invite create bo@example.com')
  await bo.ok('skerry invite accept steps')
})
afterAll(async () => {
  await Promise.all([ada?.remove(), bo?.remove()])
  await server?.close()
})

const refused = async (machine: PersonMachine, command: string) => {
  const { code, stderr } = await machine.shell(command)
  expect(code, command).not.toBe(0)
  return stderr
}

const addToTeam =
  'add a person with `skerry teams include <team> <member>`, or invite one with `skerry invite create <email> --team <team>`\n'

test.each(['add backend bo@example.com', 'invite bo@example.com', 'join backend'])(
  'skerry teams %s leads to the command that adds a person',
  async (line) => {
    const { code, stderr } = await ada.shell(`skerry teams ${line}`)
    expect([code, stderr]).toEqual([2, expect.stringContaining(addToTeam)])
  },
)

test('a team gets an environment by its whole name in --env, and a member of the team is told who grants the key', async () => {
  await ada.ok('skerry teams grant backend --env shop/staging')
  await ada.ok('skerry teams include backend bo@example.com')
  expect(await ada.ok('skerry teams show backend')).toContain('shop/staging')
  expect(await refused(bo, 'skerry secrets ls --app shop --env staging')).toBe(
    'skerry: you (bo@example.com) do not have the key of shop/staging; a team or an invitation gives it to you: an admin who can read it must run `skerry access complete --member bo@example.com`\n',
  )
  expect(await refused(bo, 'skerry secrets ls --app shop --env production')).toContain(
    'ask for it with `skerry access ask shop/production`',
  )
})

test('skerry invite create plans an environment by its whole name in --env', async () => {
  await ada.ok('skerry invite create cy@example.com --env shop/staging')
  const { invites } = JSON.parse(await ada.ok('skerry invite ls --json'))
  const [{ environmentIds }] = invites.filter(({ email }: { email: string }) => email === 'cy@example.com')
  expect(environmentIds).toEqual([JSON.parse(await ada.ok('skerry env show shop/staging --json')).environment.id])
})

test('the reason of a request, of an answer and of a change may be called a note, a comment or a reason', async () => {
  await bo.ok('skerry access ask shop/production --note "to look"')
  expect(await ada.ok('skerry access ls')).toContain('to look')
  await ada.ok('skerry access decline bo@example.com --comment "use staging"')
  expect(await bo.ok('skerry access ls --status any --json')).toContain('"use staging"')
  await ada.ok('skerry env protect shop/staging --self-approval --yes')
  await ada.ok('printf 1 | skerry secrets set KEY --env staging --reason "a first value"')
  const { changeRequests } = JSON.parse(await ada.ok('skerry changes ls --json'))
  expect(changeRequests[0].note).toBe('a first value')
  await ada.ok(`skerry changes reject ${changeRequests[0].id} --reason "not now" --yes`)
  expect(await ada.ok(`skerry changes show ${changeRequests[0].id}`)).toMatch(/^reject .* not now$/m)
})

test('skerry grant without a key, and a slug that is in use, name the next step', async () => {
  expect(await refused(bo, 'skerry grant ada@example.com --all --reader ada@example.com')).toBe(
    'skerry: this credential has no key, so it can grant none; if another credential of this machine has keys, add `--profile <name>`: `skerry profile ls` lists them\n',
  )
  expect(await refused(ada, 'skerry org create Steps')).toBe(
    'skerry: the slug is already in use; choose another one with --slug\n',
  )
})

test.each([
  'app create shop',
  'env create staging --app shop',
  'group create shared',
  'branch create pr-1 --app shop --env development',
  'teams create backend',
  'invite create twice@example.com',
])('skerry %s is refused if it was done before, with the next step', async (line) => {
  await ada.shell(`skerry ${line}`)
  const { code, stdout, stderr } = await ada.shell(`skerry ${line}`)
  expect([code, stdout, stderr]).toEqual([5, '', expect.stringMatching(/^skerry: .+; .+\n$/)])
})

test('skerry env trust accepts several environments at once, and asks about each', async () => {
  await ada.ok('skerry env create one --app web && skerry env create two --app web')
  for (const env of ['one', 'two']) await ada.ok(`printf 1 | skerry secrets set KEY --app web --env ${env}`)
  const read = 'skerry secrets get KEY --app web --env one && skerry secrets get KEY --app web --env two'
  const other = await newPersonMachine(server, 'ada@example.com')
  await other.write('../passphrase', await ada.read('../passphrase'))
  other.env.SKERRY_PASSPHRASE_FILE = `${other.home}/passphrase`
  await other.ok(read)
  for (const env of ['one', 'two']) await ada.ok(`skerry env rekey web/${env} --yes`)
  expect((await other.shell('skerry env trust web/one web/two')).code).toBe(2)
  const { environments } = JSON.parse(await other.ok('skerry env trust web/one web/two --yes --json'))
  expect(environments.map(({ environment, accepted }: Trusted) => [environment.label, accepted.length])).toEqual([
    ['web/one', 1],
    ['web/two', 1],
  ])
  await other.ok(read)
  await other.remove()
})

interface Trusted {
  environment: { label: string }
  accepted: unknown[]
}
