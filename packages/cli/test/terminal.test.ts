import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Terminal Org')
  await machine.skerry(['secrets', 'set', 'A'], { input: 'shown-to-nobody' })
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

it('values are masked on a terminal, and shown when asked for', async () => {
  const masked = await machine.terminal('skerry secrets get A')
  expect(masked.stdout).toContain('********')
  expect(masked.stdout).not.toContain('shown-to-nobody')
  expect((await machine.terminal('skerry secrets get A --reveal')).stdout).toContain('shown-to-nobody')
  const json = await machine.terminal('skerry secrets get A --json')
  expect(json.stdout).toMatch(/"value": null,\s+"masked": true/)
})

it('an export does not pour values onto a terminal', async () => {
  const refused = await machine.terminal('skerry secrets export')
  expect(refused.code).toBe(2)
  expect(refused.stdout).not.toContain('shown-to-nobody')
  expect(refused.stdout).toContain('--out')
})

it('a value that is typed does not show', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets set TYPED', [['Value of TYPED', 'typed-in-secret\r']])
  expect(code).toBe(0)
  expect(stdout).toContain('Value of TYPED')
  expect(stdout).not.toContain('typed-in-secret')
  expect((await machine.skerry(['secrets', 'get', 'TYPED'])).stdout).toBe('typed-in-secret')
})

it('a destructive command asks, and does nothing when told no', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets rm A', [['delete A', 'n']])
  expect(stdout).toContain('delete A from shop/development')
  expect(code).toBe(1)
  expect((await machine.skerry(['secrets', 'get', 'A'])).stdout).toBe('shown-to-nobody')
})

it('Ctrl-C at a question ends with 130 and changes nothing', async () => {
  const { code } = await machine.terminal('skerry secrets rm A', [['delete A', '\x03']])
  expect(code).toBe(130)
  expect((await machine.skerry(['secrets', 'get', 'A'])).code).toBe(0)
})

it('colour is for terminals, and NO_COLOR turns it off', async () => {
  const colour = '\x1b['
  expect((await machine.terminal('skerry secrets get NONE')).stdout).toContain(colour)
  expect((await machine.terminal('env NO_COLOR=1 skerry secrets get NONE')).stdout).not.toContain(colour)
  expect((await machine.skerry(['secrets', 'get', 'NONE'])).stderr).not.toContain(colour)
})
