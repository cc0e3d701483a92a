import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

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

test('what a holder prints for an admin has nothing secret in it, and is refused where the token is registered', async () => {
  await machine.shell('skerry token create --name web --admin > token')
  const token = (await machine.shell('cat token')).stdout.trim()
  const printed = await machine.shell('SKERRY_URL=http://127.0.0.1:1 skerry token register --request < token > request')
  expect([printed.code, printed.stderr]).toEqual([0, ''])
  const request = (await machine.shell('cat request')).stdout
  expect(Object.keys(JSON.parse(request)).toSorted()).toEqual(['publicKeyJwk', 'tokenHash', 'tokenId'])
  expect(request).not.toContain(token.split('_').at(-1))
  for (const from of ['< token', '--from request']) {
    const { code, stderr } = await machine.shell(`skerry token register ${from}`)
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('registered already')])
    expect(code).not.toBe(0)
  }
  const damaged = await machine.shell('echo "{}" > damaged && skerry token register --from damaged')
  expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringContaining('damaged is not what')])
})
