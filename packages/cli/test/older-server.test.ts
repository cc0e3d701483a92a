import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'
import { openProxy } from './proxy.ts'

// A server of an earlier release has no paths for a proposed re-key.

let server: PeopleServer
let older: Awaited<ReturnType<typeof openProxy>>
let ada: PersonMachine
let isOlder = true
const rekeyPaths = /\/change-requests\/(?:rekey|[^/]+\/rekey)$/

beforeAll(async () => {
  server = await openPeopleServer()
  older = await openProxy(server.url, (_, path) => (isOlder && rekeyPaths.test(path) ? 404 : undefined))
  ada = await newKeyHolder(server, 'ada@example.com', older.url)
  await ada.ok('skerry org create Older && skerry init --app shop --env development --yes')
  await ada.ok('echo one | skerry secrets set API_KEY --env development')
  await ada.ok('skerry env protect shop/development --yes')
})
afterAll(async () => {
  await ada?.remove()
  await older?.close()
  await server?.close()
})

test('skerry env rekey says that the server cannot queue a new key, and what to do, and changes nothing', async () => {
  const { code, stderr } = await ada.shell('skerry env rekey shop/development --yes')
  expect([code, stderr], stderr).toEqual([
    5,
    expect.stringContaining(
      'shop/development is protected, and this server cannot queue a new key; update the server, or take the ' +
        'protection off first with `skerry env unprotect shop/development`\n',
    ),
  ])
  expect(JSON.parse(await ada.ok('skerry changes ls --json')).changeRequests).toEqual([])
  expect(await ada.ok('skerry secrets get API_KEY --env development')).toBe('one\n')
})

test('skerry changes show says that the server must be upgraded to compare a re-key', async () => {
  isOlder = false
  await ada.ok('skerry env rekey shop/development --yes')
  const [{ id }] = JSON.parse(await ada.ok('skerry changes ls --json')).changeRequests
  isOlder = true
  const { code, stderr } = await ada.shell(`skerry changes show ${id}`)
  expect(code, stderr).not.toBe(0)
  expect(stderr).toContain('upgrade the server')
})
