import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLiar } from './hostile/liar.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// A person may have kept a key that was taken from them before they are removed.

let server: PeopleServer
let ada: PersonMachine
let bo: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  ada = await newKeyHolder(server, 'ada@example.com')
  bo = await newKeyHolder(server, 'bo@example.com')
  await ada.ok('skerry org create Kept')
  await ada.ok('skerry init --app shop --env development --yes')
  for (const env of ['staging', 'production', 'rekeyed', 'never']) await ada.ok(`skerry env create ${env}`)
  await ada.ok('skerry invite create bo@example.com')
  await bo.ok('skerry invite accept kept')
  for (const env of ['development', 'staging', 'production', 'rekeyed'])
    await ada.ok(`skerry grant bo@example.com --env ${env} --reader bo@example.com`)
})
afterAll(async () => {
  await ada?.remove()
  await bo?.remove()
  await server?.close()
})

test('skerry members rm names the keys that the person lost before, unless they were replaced since', async () => {
  await ada.ok('skerry grant revoke bo@example.com --env staging --yes')
  await ada.ok('skerry grant revoke bo@example.com --env rekeyed --yes')
  await ada.ok('skerry env rekey rekeyed --yes')
  await bo.write('../new', 'five new words of mine\n')
  await bo.ok('skerry keys replace --yes --new-file ../new')
  const { code, stdout, stderr } = await ada.shell('skerry members rm bo@example.com --yes --json')
  expect([code, JSON.parse(stdout).held.sort()], stderr).toEqual([
    0,
    ['shop/development', 'shop/production', 'shop/staging'],
  ])
  expect(stderr).toContain('skerry env rekey shop/production')
})

const join = async () => {
  await ada.ok('skerry invite create bo@example.com')
  await bo.ok('skerry invite accept kept')
}

test('skerry grant --reader names a person by e-mail address who left and came back', async () => {
  await join()
  await ada.ok('skerry members trust bo@example.com --yes')
  await ada.ok('skerry members rm bo@example.com --yes')
  await join()
  await ada.ok('skerry grant bo@example.com --env never --reader bo@example.com')
  expect(await ada.ok('skerry env readers never')).toContain('bo@example.com')
})

test('skerry members rm says what it does not know about the keys that the person had', async () => {
  const liar = await openLiar(server.url)
  const remove = () => ada.shell(`SKERRY_URL=${liar.url} skerry members rm bo@example.com --yes`)
  try {
    liar.refuse(/\/audit\?/, 'no audit log')
    const withoutLog = await remove()
    expect(withoutLog.code).toBe(0)
    expect(withoutLog.stderr).toContain(
      'warning: the audit log could not be read, so this list lacks keys that bo@example.com lost earlier; an admin can ' +
        'look with `skerry audit ls --action key.revoked --text usr_',
    )
    expect(withoutLog.stderr).toContain(
      'bo@example.com had the key of shop/never, and may have kept a copy. Give these environments a new key, then ' +
        'change their values:\n  skerry env rekey shop/never\n',
    )
    await join()
    liar.refuse(/\/envs\/.*\/keys/, 'no grants')
    const { code, stderr } = await remove()
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('warning: the keys that bo@example.com had are not known: see `skerry grant ls`\n'),
    ])
  } finally {
    await liar.close()
  }
})
