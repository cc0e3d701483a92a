import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Json, type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let liar: Liar
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  liar = await openLiar(server.url)
  machine = await signedUp(liar.url, 'Counted')
})
afterAll(async () => {
  await machine?.remove()
  await liar?.close()
  await server?.close()
})

it('plan usage shows unlimited for every metric of a server that enforces no limits', async () => {
  const { code, stdout, stderr } = await machine.skerry(['plan', 'usage'])
  const [header, ...rows] = stdout.trimEnd().split('\n')
  expect([code, header]).toEqual([0, expect.stringMatching(/^METRIC +USED +INCLUDED$/)])
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) expect(row).toMatch(/^[\w.]+ +\d+ +unlimited$/)
  expect(stderr).toContain('this server enforces no limits')
})

it('plan usage shows the enforced limits of the plan, and unlimited for a metric without a limit', async () => {
  liar.lie(/\/billing$/, (body: Json) => ({
    ...body,
    enforced: true,
    usage: body.usage.map((one: Json) => (one.key === 'apps' ? { ...one, included: null } : one)),
  }))
  const { stdout } = await machine.skerry(['plan', 'usage'])
  expect(stdout).toMatch(/^members +0 +5$/m)
  expect(stdout).toMatch(/^apps +1 +unlimited$/m)
})
