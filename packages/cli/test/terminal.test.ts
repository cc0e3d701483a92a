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

it('values are masked on a terminal, and shown with --reveal', async () => {
  const masked = await machine.terminal('skerry secrets get A')
  expect(masked.stdout).toContain('********')
  expect(masked.stdout).not.toContain('shown-to-nobody')
  expect((await machine.terminal('skerry secrets get A --reveal')).stdout).toContain('shown-to-nobody')
  const json = await machine.terminal('skerry secrets get A --json')
  expect(json.stdout).toMatch(/"value": null,\s+"masked": true/)
})

it('times are relative on a terminal, and RFC 3339 in a pipe', async () => {
  expect((await machine.terminal('skerry secrets ls')).stdout).toMatch(/^A +1 +(just now|\d+ minutes? ago) +own\s*$/m)
  expect((await machine.terminal('skerry audit --limit 1')).stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /m)
  expect((await machine.skerry(['secrets', 'ls'])).stdout).toMatch(/^A +1 +\d{4}-\d\d-\d\dT[\d:.]+Z +own$/m)
})

it('messages give times of this machine on a terminal, and RFC 3339 in a file', async () => {
  const told = await machine.terminal('skerry branch create on-terminal --ttl 2d --private')
  expect(told.stdout).toMatch(/expires \d{4}-\d\d-\d\d \d\d:\d\d\r?\n/)
  const inFile = await machine.terminal(`bash -c 'skerry branch create in-file --ttl 2d --private 2> told.txt'`)
  expect([inFile.code, await machine.read('told.txt')]).toEqual([
    0,
    expect.stringMatching(/expires \d{4}-\d\d-\d\dT[\d:.]+Z\n/),
  ])
})

it('a line break in a revealed value is printed as a line break', async () => {
  await machine.skerry(['secrets', 'set', 'TWO'], { input: 'two\nlines' })
  expect((await machine.terminal('skerry secrets get TWO --reveal')).stdout).toContain('two\r\nlines')
})

it('a stored name cannot control the terminal', async () => {
  const renamed = await machine.skerry(['org', 'rename', 'good\u202elive'])
  expect([renamed.code, renamed.stderr]).toEqual([0, expect.stringContaining('is called good\\u202elive')])
  expect((await machine.skerry(['whoami'])).stdout).toContain('good\\u202elive (terminal-org)')
  expect((await machine.skerry(['org', 'rename', 'good\u009b2Jlive'])).stderr).toContain('name')
})

it('a stream gets colour codes only if that stream is a terminal', async () => {
  const colour = '\u001b['
  expect((await machine.terminal('skerry doctor')).stdout).toContain(`${colour}32mok`)
  const intoFile = await machine.terminal(`bash -c 'skerry doctor > doctor.txt; skerry secrets get NONE'`)
  expect(intoFile.stdout).toContain(`${colour}31mskerry:`)
  const written = await machine.read('doctor.txt')
  expect(written).toMatch(/^ok {4}/m)
  expect(written).not.toContain(colour)
  const errorsInFile = await machine.terminal(
    `bash -c 'skerry doctor 2> errors.txt; skerry secrets get NONE 2>> errors.txt'`,
  )
  expect(errorsInFile.stdout).toContain(`${colour}32mok`)
  expect(await machine.read('errors.txt')).toMatch(/^skerry: /m)
  expect(await machine.read('errors.txt')).not.toContain(colour)
})

it('an export to a terminal is refused', async () => {
  const refused = await machine.terminal('skerry secrets export')
  expect(refused.code).toBe(2)
  expect(refused.stdout).not.toContain('shown-to-nobody')
  expect(refused.stdout).toContain('--out')
})

it('a typed value is not shown', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets set TYPED', [['Value of TYPED', 'typed-in-secret\r']])
  expect(code).toBe(0)
  expect(stdout).toContain('Value of TYPED')
  expect(stdout).not.toContain('typed-in-secret')
  expect((await machine.skerry(['secrets', 'get', 'TYPED'])).stdout).toBe('typed-in-secret')
})

it('pasted text of several lines is refused and not cut off', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets set PASTED', [
    ['Value of PASTED', 'one\rtwo\rthree\r'],
  ])
  expect(code).toBe(2)
  expect(stdout).toContain('--file')
  expect((await machine.skerry(['secrets', 'get', 'PASTED'])).code).toBe(4)
})

it('a typed Tab is refused and not dropped', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets set TABBED', [['Value of TABBED', 'one\ttwo\r']])
  expect(code).toBe(2)
  expect(stdout).toContain('a Tab cannot be typed here')
  expect((await machine.skerry(['secrets', 'get', 'TABBED'])).code).toBe(4)
})

it('an empty answer is refused unless --empty is given', async () => {
  const refused = await machine.terminal('skerry secrets set A', [['Value of A', '\r']])
  expect(refused.code).toBe(2)
  expect(refused.stdout).toContain('add --empty')
  expect((await machine.skerry(['secrets', 'get', 'A'])).stdout).toBe('shown-to-nobody')
  const meant = await machine.terminal('skerry secrets set BLANK --empty', [['Value of BLANK', '\r']])
  expect(meant.code).toBe(0)
})

it('the end of input at a question cancels the command, as Ctrl-C does', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets set ENDED', [['Value of ENDED', '\x04']])
  expect(code).toBe(130)
  expect(stdout).toContain('nothing was changed')
})

it('a question is readable on a terminal that does not know its width', async () => {
  const { stdout } = await machine.terminal('sh -c "stty cols 0; exec skerry secrets set A"', [['Value of A', '\x03']])
  expect(stdout).toContain('Value of A (hidden)')
})

it('a destructive command asks, and does nothing if the answer is no', async () => {
  const { stdout, code } = await machine.terminal('skerry secrets rm A', [['deletes A', 'n']])
  expect(stdout).toContain('deletes A from shop/development')
  expect(code).toBe(1)
  expect((await machine.skerry(['secrets', 'get', 'A'])).stdout).toBe('shown-to-nobody')
})

it('Ctrl-C at a question ends with 130 and changes nothing', async () => {
  const { code } = await machine.terminal('skerry secrets rm A', [['deletes A', '\x03']])
  expect(code).toBe(130)
  expect((await machine.skerry(['secrets', 'get', 'A'])).code).toBe(0)
})

it('colour is used only on terminals, and NO_COLOR turns it off', async () => {
  const colour = '\x1b['
  expect((await machine.terminal('skerry secrets get NONE')).stdout).toContain(colour)
  expect((await machine.terminal('env NO_COLOR=1 skerry secrets get NONE')).stdout).not.toContain(colour)
  expect((await machine.skerry(['secrets', 'get', 'NONE'])).stderr).not.toContain(colour)
})

it('skerry init offers the existing applications and environments', async () => {
  await machine.skerry(['app', 'create', 'web'])
  for (const slug of ['development', 'production']) await machine.skerry(['env', 'create', slug, '--app', 'web'])
  const folder = `${machine.home}/elsewhere`
  await machine.shell(`mkdir -p ${folder}`)
  const { code, stdout } = await machine.terminal(`sh -c 'cd ${folder} && skerry init'`, [
    ['Which application of terminal-org', '\u001b[A\r'],
    ['Which environment do you work with', '\u001b[B\r'],
  ])
  expect([code, stdout]).toEqual([0, expect.stringContaining('elsewhere')])
  const { app, env } = JSON.parse(await machine.read('../elsewhere/skerry.json'))
  expect({ app, env }).toEqual({ app: 'web', env: 'production' })
})
