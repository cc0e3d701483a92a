import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// A secret may have the name of a property that every JavaScript object inherits.

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Inherited Org')
  await machine.write('.env', dotenv)
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

const values: [string, string][] = [
  ['__proto__', 'one'],
  ['constructor', 'two'],
  ['hasOwnProperty', 'three'],
  ['toString', 'four'],
  ['valueOf', '${toString} ${__proto__} ${isPrototypeOf}'],
]
const dotenv = values.map(([name, value]) => `${name}=${value}\n`).join('')
const expanded = [...values.slice(0, 4), ['valueOf', 'four one ${isPrototypeOf}']]

/** The entries in order, with `__proto__`, which `toEqual` ignores in objects. */
const entries = (json: string) => Object.entries(JSON.parse(json))

/** A program that prints the variables that it got. */
const tell = [
  'node',
  '-e',
  `console.log(JSON.stringify(process.argv.slice(1).map((name) => [name, process.env[name]])))`,
]
const names = values.map(([name]) => name)

const done = async (args: string[], options: Parameters<Machine['skerry']>[1] = {}) => {
  const ended = await machine.skerry(args, options)
  expect(ended, ended.stderr).toMatchObject({ code: 0 })
  return ended
}

describe('a secret with the name of an inherited property', () => {
  it('is imported from a .env file, and each name counts as new once', async () => {
    expect((await done(['secrets', 'import', '.env'])).stderr).toContain('5 new, 0 changed, 0 unchanged')
    expect((await done(['secrets', 'import', '.env'])).stderr).toContain('0 new, 0 changed, 5 unchanged')
  })

  it('is exported as JSON and for a shell, and read back', async () => {
    const { stdout } = await done(['secrets', 'export', '--stored', '--format', 'json'])
    expect(entries(stdout)).toEqual(values)
    await done(['env', 'create', 'staging'])
    await machine.write('values.json', stdout)
    await done(['secrets', 'import', 'values.json', '--env', 'staging'])
    expect((await done(['secrets', 'diff', '--stored', 'development', 'staging'])).stderr).toContain(
      '0 differ, 5 are the same',
    )
    const shell = await machine.shell(
      `eval "$(skerry secrets export --stored --format shell)"; ${tell[0]} -e '${tell[2]}' ${names.join(' ')}`,
    )
    expect(JSON.parse(shell.stdout)).toEqual(values)
  })

  it('is compared by its name', async () => {
    for (const name of ['__proto__', 'constructor'])
      await done(['secrets', 'set', name, '--env', 'staging'], { input: 'x' })
    await done(['secrets', 'rm', 'toString', '--env', 'staging', '--yes'])
    const { stdout } = await done(['secrets', 'diff', '--stored', 'development', 'staging', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      same: 2,
      secrets: [
        { name: '__proto__', state: 'different' },
        { name: 'constructor', state: 'different' },
        { name: 'toString', state: 'only-left' },
      ],
    })
  })

  it('named __proto__ is refused in a dotenv export, because most readers of the file would drop it', async () => {
    expect(await machine.skerry(['secrets', 'export'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the dotenv format cannot contain the value of __proto__; use --format json'),
    })
    await done(['secrets', 'rm', '__proto__', '--env', 'staging', '--yes'])
    expect((await done(['secrets', 'export', '--env', 'staging'])).stdout).toContain('constructor=x\n')
  })

  it('is merged, referred to and overridden by a branch', async () => {
    const { stdout, stderr } = await done(['secrets', 'export', '--expand', '--format', 'json'])
    expect(entries(stdout)).toEqual(expanded)
    await done(['branch', 'create', 'pr-7'])
    await done(['secrets', 'set', '__proto__', '--branch', 'pr-7'], { input: 'of the branch' })
    expect((await done(['secrets', 'get', '__proto__', '--branch', 'pr-7'])).stdout).toBe('of the branch')
    expect((await done(['secrets', 'get', 'valueOf', '--branch', 'pr-7'])).stdout).toBe(
      'four of the branch ${isPrototypeOf}',
    )
    expect(stderr).toBe('warning: a value refers to isPrototypeOf, which does not exist\n')
  })

  it('reaches a program, alone or with all others, and is listed by --explain', async () => {
    const all = await done(['run', '--explain', '--', ...tell, ...names])
    expect(JSON.parse(all.stdout)).toEqual(expanded)
    expect(all.stderr).toMatch(/^__proto__ +shop\/development$/m)
    expect(all.stderr).toContain('a value refers to isPrototypeOf, which does not exist')
    const one = await done(['run', '--only', '__proto__', '--', ...tell, '__proto__', 'constructor'])
    expect(JSON.parse(one.stdout)).toEqual([
      ['__proto__', 'one'],
      ['constructor', null],
    ])
    const missing = await machine.skerry(['run', '--only', 'isPrototypeOf', '--', 'true'])
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('isPrototypeOf') })
  })

  it('can also come from --dotenv and from the process environment', async () => {
    await machine.write('local.env', '__proto__=file\ntoString=file\n')
    const args = ['run', '--dotenv', 'local.env', '--explain', '--', ...tell, '__proto__', 'toString', 'constructor']
    const { stdout, stderr } = await done(args, { env: Object.fromEntries([['__proto__', 'process']]) })
    expect(JSON.parse(stdout)).toEqual([
      ['__proto__', 'process'],
      ['toString', 'file'],
      ['constructor', 'two'],
    ])
    expect(stderr).toMatch(/^__proto__ +process environment +local.env, shop\/development$/m)
  })

  it('is not taken for a profile', async () => {
    expect(await machine.skerry(['whoami', '--profile', 'constructor'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("there is no profile 'constructor'"),
    })
  })

  it('is re-keyed with all others', async () => {
    await done(['env', 'rekey', '--yes'])
    expect(entries((await done(['secrets', 'export', '--stored', '--format', 'json'])).stdout)).toEqual(values)
  })
})
