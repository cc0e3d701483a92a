import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { newKeyHolder, openPeopleServer } from './people.ts'
import { openServer, type Server } from './server.ts'

const operator = fileURLToPath(new URL('../../server/src/operator/main.js', import.meta.url))

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Moved')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

test('token register --request prints nothing secret, and a token that is registered already is refused', async () => {
  await machine.shell('skerry token create web --admin > token')
  const token = (await machine.shell('cat token')).stdout.trim()
  const printed = await machine.shell('SKERRY_URL=http://127.0.0.1:1 skerry token register --request < token > request')
  expect([printed.code, printed.stderr]).toEqual([0, ''])
  const request = (await machine.shell('cat request')).stdout
  expect(Object.keys(JSON.parse(request)).toSorted()).toEqual(['publicKeyJwk', 'tokenHash', 'tokenId'])
  expect(request).not.toContain(token.split('_').at(-1))
  for (const from of ['< token', '--from request']) {
    const { code, stderr } = await machine.shell(`skerry token register ${from}`)
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('already registered')])
    expect(code).not.toBe(0)
  }
  const damaged = await machine.shell('echo "{}" > damaged && skerry token register --from damaged')
  expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringContaining('damaged is not the output of')])
})

test('a restored token reads secrets on another server after an admin has registered its request there', async () => {
  const source = await openPeopleServer()
  const { SKERRY_OIDC_ISSUER, SKERRY_OIDC_AUDIENCE } = source.settings as Record<string, string>
  const target = await openServer({ SKERRY_OIDC_ISSUER, SKERRY_OIDC_AUDIENCE } as Record<string, string>)
  const admin = await newKeyHolder(source, 'ada@example.com')
  try {
    await admin.ok(
      'skerry org create Moving && skerry init --yes --env development && echo -n planted | skerry secrets set API_KEY',
    )
    await admin.ok('skerry token create web > token 2> /dev/null')
    const { stderr } = await admin.shell('skerry org export moving.json')
    const key = /--key ([\w-]{43})/.exec(stderr)?.[1] as string
    // Only one process can use the embedded database.
    await target.stop()
    const restored = await promisify(execFile)(
      process.execPath,
      [operator, 'org', 'restore', join(admin.project, 'moving.json'), '--key', key],
      { env: { PATH: process.env.PATH, ...target.settings } },
    )
    expect(restored.stdout).toContain('web (skt_')
    await target.start()

    admin.env.SKERRY_URL = target.url
    const read = () => admin.shell('SKERRY_TOKEN=$(cat token) skerry secrets get API_KEY')
    expect((await read()).code).not.toBe(0)
    await admin.ok('skerry token register --request < token > request')
    const registered = await admin.shell('skerry token register --from request')
    expect([registered.code, registered.stderr]).toEqual([0, expect.stringContaining('is registered again')])
    expect(await read()).toMatchObject({ code: 0, stdout: 'planted' })
    // The person can read too, with their own key.
    expect(await admin.ok('skerry secrets get API_KEY')).toBe('planted')
  } finally {
    await admin.remove()
    await target.close()
    await source.close()
  }
})
