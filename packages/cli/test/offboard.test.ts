import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// A person leaves: the command removes them, revokes what they made, and re-keys what this machine can re-key.

let server: PeopleServer
let ada: PersonMachine
let bo: PersonMachine
let cy: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  ada = await newKeyHolder(server, 'ada@example.com')
  bo = await newKeyHolder(server, 'bo@example.com')
  cy = await newKeyHolder(server, 'cy@example.com')
  await ada.ok('skerry org create Left && skerry init --app shop --env development --yes')
  await ada.ok('skerry env create staging --app shop && echo one | skerry secrets set API_KEY --env staging')
  await ada.ok('skerry invite create bo@example.com --role admin')
  await bo.ok('skerry invite accept left')
  for (const env of ['development', 'staging'])
    await ada.ok(`skerry grant bo@example.com --env ${env} --reader bo@example.com`)
  for (let i = 0; i < 2; i++) await bo.ok('skerry token create botok --app shop --env development')
  await ada.ok('echo old | skerry secrets set OLD_KEY --env staging && skerry secrets rm OLD_KEY --env staging --yes')
  await ada.ok('skerry invite create cy@example.com --role admin')
  await cy.ok('skerry invite accept left')
})
afterAll(async () => {
  await ada?.remove()
  await bo?.remove()
  await cy?.remove()
  await server?.close()
})

const offboardings = async () => JSON.parse(await ada.ok('skerry members offboarding --json')).offboardings
const show = async () => JSON.parse(await ada.ok('skerry members offboarding bo@example.com --json'))

test('skerry members offboard changes nothing before it is confirmed, and names what would stop', async () => {
  const { code, stderr } = await ada.shell('skerry members offboard bo@example.com')
  expect([code, stderr], stderr).toEqual([2, expect.stringContaining('Programs that use these credentials would stop')])
  expect(stderr).toMatch(/the token botok \(skt_\w{22}\), the token botok \(skt_\w{22}\)/)
  expect(stderr).toContain(
    'loses its open changes, and cannot restore earlier versions or deleted secrets; 1 deleted secret can be restored until then',
  )
  expect(stderr).toContain('bo@example.com could read 1 value in 2 environments')
  expect(await offboardings()).toEqual([])
})

test('skerry members offboard removes the person, re-keys, and proposes the new key of a protected environment', async () => {
  await ada.ok('skerry env protect shop/staging --yes')
  const { code, stderr } = await ada.shell('skerry members offboard bo@example.com --yes')
  expect([code, stderr], stderr).toEqual([0, expect.stringContaining('revoked the token botok')])
  expect(stderr).toContain('shop/development has a new key')
  expect(stderr).toContain('queued a new key as chg_')
  expect((await bo.shell('skerry app ls --org left')).code).not.toBe(0)
  const { rows } = await show()
  expect(rows.map(({ kind, label, state }: Record<string, string>) => [kind, label, state])).toEqual([
    ['rekey', 'shop/development', 'done'],
    ['rekey', 'shop/staging', 'waiting'],
    ['rotate_value', 'shop/staging', 'waiting'],
  ])
})

test('the row of a protected environment waits for the approval, and is open again without it', async () => {
  expect(await ada.ok('skerry members offboarding bo@example.com')).toContain('open (waits for approval)')
  const waiting = await ada.shell('skerry members offboard bo@example.com --yes')
  expect(waiting.stderr).toContain('The new key of shop/staging waits for approval')
  const { changeRequestId } = (await show()).rows[1]
  await ada.ok(`skerry changes withdraw ${changeRequestId}`)
  expect(await ada.ok('skerry members offboarding bo@example.com')).toContain('open (protected: needs approval)')
})

const list = 'skerry members offboarding bo@example.com'

test('a row is handed to an admin with a note, who can be reminded, and a value is ticked by another person', async () => {
  const handed = await ada.shell(`${list} shop/staging --hand-to cy@example.com --note 'before Friday'`)
  expect([handed.code, handed.stderr]).toEqual([0, expect.stringContaining('shop/staging: handed to cy@example.com\n')])
  expect(handed.stdout).toMatch(/cy@example\.com +before Friday$/m)
  expect(handed.stdout).not.toContain('API_KEY')
  expect((await ada.shell(`${list} shop/staging --remind`)).stderr).toContain('shop/staging: sent a reminder\n')
  expect(await cy.ok(`${list} shop/staging/API_KEY --done --note 'at the bank'`)).toMatch(
    /^Replace the value +shop\/staging API_KEY +replaced +cy@example\.com .* at the bank$/m,
  )
  await ada.ok(`${list} 'shop/staging API_KEY' --reopen --note ''`)
  expect((await show()).rows[2]).toMatchObject({ state: 'waiting', note: null })
})

test.each([
  ['shop/staging --done', '--done is for values; shop/staging is done by its re-key'],
  ['shop/staging shop/stagin --not-needed', 'has no row shop/stagin'],
  ['--done', 'the row is missing'],
  ['shop/staging --done --reopen', '--done and --reopen exclude each other'],
  ['shop/staging --remind --note soon', '--remind changes no row; give it alone'],
  ['shop/staging --hand-to bo@example.com', '--hand-to bo@example.com is not a member'],
  ['shop/staging --remind', 'too many reminders about this row'],
  ['shop/development --remind', 'this row is done'],
  ['shop/staging --finish', '--finish is for the whole offboarding'],
])('skerry members offboarding <member> %s is refused and changes nothing', async (given, message) => {
  const before = await show()
  const { code, stderr } = await ada.shell(`${list} ${given}`)
  expect(code, stderr).not.toBe(0)
  expect(stderr).toContain(message)
  expect(await show()).toEqual(before)
})

test('a second run continues where the first one stopped, and a new value counts as replaced', async () => {
  await ada.ok('skerry members offboard bo@example.com --yes')
  const { changeRequestId } = (await show()).rows[1]
  await cy.ok(`skerry changes approve ${changeRequestId} --yes`)
  await ada.ok('skerry env trust shop/staging --yes && skerry env unprotect shop/staging --yes')
  expect((await show()).rows.map(({ state }: { state: string }) => state)).toEqual(['done', 'done', 'waiting'])
  await ada.ok('echo two | skerry secrets set API_KEY --env staging')
  expect((await show()).offboarding).toMatchObject({ rows: 3, open: 0 })
  expect(await ada.ok('skerry members offboarding')).toMatch(/^bo@example\.com +3 of 3/m)
})

test('skerry members offboarding writes a report, and finishes the list', async () => {
  await ada.ok(
    'skerry members offboarding bo@example.com --report bo.md && skerry members offboarding bo@example.com --report bo.csv',
  )
  expect(await ada.read('bo.md')).toContain('| Re-key | shop/staging | done | ada@example.com |')
  expect(await ada.read('bo.csv')).toContain('"Replace the value","shop/staging API_KEY","replaced"')
  expect((await ada.shell('skerry members offboarding bo@example.com --report bo.txt')).code).toBe(2)
  await ada.ok('skerry members offboarding bo@example.com --finish')
  expect((await offboardings())[0].finishedAt).not.toBeNull()
})

test('an offboarding that leaves one admin says that nobody can approve the new key, and the steps that it names work', async () => {
  await ada.ok('skerry grant cy@example.com --env staging --reader cy@example.com')
  await ada.ok('skerry env protect shop/staging')
  const { stderr } = await ada.shell('skerry members offboard cy@example.com --yes')
  const [, id = ''] = /queued a new key as (chg_\w{22})/.exec(stderr) ?? []
  expect(stderr).toContain(
    'warning: only one member is an admin, so nobody can approve a change of shop/staging that an admin proposes: make another member an admin',
  )
  await ada.ok('skerry env protect shop/staging --self-approval')
  const { code, stderr: why } = await ada.shell(`skerry changes approve ${id} --yes`)
  expect([code, why]).toEqual([3, expect.stringContaining(`you proposed ${id}, and you are the only admin`)])
  expect(why).toContain(`\`skerry changes withdraw ${id}\`, propose the change again and approve it`)
  expect(stderr).toContain(`\`skerry changes withdraw ${id}\`, run \`skerry env rekey shop/staging\` and approve it`)
  await ada.ok(`skerry changes withdraw ${id}`)
  const [again = ''] = /chg_\w{22}/.exec((await ada.shell('skerry env rekey shop/staging --yes')).stderr) ?? []
  await ada.ok(`skerry changes approve ${again} --yes`)
})
