import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// The credentials that a person made still work after the person was removed.

let server: PeopleServer
let ada: PersonMachine
let bo: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  ada = await newKeyHolder(server, 'ada@example.com')
  bo = await newKeyHolder(server, 'bo@example.com')
  await ada.ok('skerry org create Kept && skerry init --app shop --env development --yes')
  await ada.ok('skerry invite create bo@example.com')
})
afterAll(async () => {
  await ada?.remove()
  await bo?.remove()
  await server?.close()
})

const refused = async (command: string) => {
  const { code, stderr } = await ada.shell(command)
  expect(code, command).not.toBe(0)
  return stderr
}

test('skerry grant tells an open invitation from a stranger', async () => {
  expect(await refused('skerry grant bo@example.com')).toBe(
    'skerry: bo@example.com is invited and has not accepted yet; see `skerry invite ls`\n',
  )
  expect(await refused('skerry grant eve@example.com')).toContain('eve@example.com is not a member')
  await bo.ok('skerry invite accept kept')
})

test('skerry grant suggests the address of a member who is named without it', async () => {
  expect(await refused('skerry grant bo')).toBe("skerry: there is no token 'bo'; did you mean bo@example.com?\n")
})

test('skerry env trust says who must grant the key that is missing', async () => {
  const { stderr } = await bo.shell('skerry env trust shop/development')
  expect(stderr).toContain(
    'you (bo@example.com) do not have the key of shop/development; ask for it with `skerry access ask shop/development`',
  )
})

test('skerry members role asks before it makes an admin', async () => {
  expect(await refused('skerry members role bo@example.com admin')).toContain('This makes bo@example.com an admin')
  await ada.ok('skerry members role bo@example.com admin --yes && skerry members role bo@example.com admin')
})

test('the tokens and machine clients of a removed person are named before the re-key', async () => {
  await ada.ok('skerry grant bo@example.com --env development --reader bo@example.com')
  await bo.ok('skerry token create botok --app shop --env development')
  const revoked = await bo.ok('skerry token create old --app shop --env development --json')
  await bo.ok(`skerry token revoke ${JSON.parse(revoked).serviceToken.id} --yes`)
  await bo.ok('skerry client create robot')
  await ada.ok('skerry token create adas --app shop --env development')
  const { tokens } = JSON.parse(await ada.ok('skerry token ls --json'))
  const { id } = tokens.find(({ name }: { name: string }) => name === 'botok')
  const { clients } = JSON.parse(await ada.ok('skerry client ls --json'))
  const { code, stdout, stderr } = await ada.shell('skerry members rm bo@example.com --yes --json')
  expect([code, JSON.parse(stdout).made], stderr).toEqual([
    0,
    { tokens: [{ id, name: 'botok' }], clients: [{ id: clients[0].id, name: 'robot' }] },
  ])
  expect(stderr).toContain(
    'bo@example.com made the token botok, the machine client robot, which still work and may be known to ' +
      `bo@example.com. Revoke them first:\n  skerry token revoke ${id}\n  skerry client revoke ${clients[0].id}\n` +
      'bo@example.com had the key of shop/development,',
  )
  expect(await ada.ok('skerry token ls')).toMatch(/^botok .* bo@example\.com \(removed\) +skt_/m)
  expect(await ada.ok('skerry token show adas')).toContain('\nmade by ada@example.com\n')
  expect(await ada.ok('skerry client ls')).toMatch(/^m2m_\w+ +robot .* bo@example\.com \(removed\)$/m)
})

test('skerry env rekey warns about a token that a removed person made, and names who lost access by id', async () => {
  expect(await refused('skerry env rekey development --yes')).toMatch(
    /warning: the token botok was made by bo@example\.com, who was removed; to leave it out, run `skerry token revoke skt_\w+` first\n/,
  )
  await ada.ok('skerry token revoke botok --yes')
  const { code, stderr } = await ada.shell('skerry env rekey development --yes')
  expect([code, stderr], stderr).toEqual([0, expect.stringMatching(/ {2}botok \(skt_\w{22}, revoked\) lost access\n/)])
  expect(stderr).not.toContain('was removed')
})

test('skerry grant says that a person was removed and joined again with the same key', async () => {
  await ada.ok('skerry invite create bo@example.com')
  await bo.ok('skerry invite accept kept')
  const told = await refused('skerry grant bo@example.com --env development')
  expect(told).toContain('warning: bo@example.com was removed and joined again, with the same key as before\n')
  await ada.ok('skerry grant bo@example.com --env development --reader bo@example.com')
})
