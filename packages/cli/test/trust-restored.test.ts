import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, newMachine } from './machine.ts'
import { newKeyHolder, ok, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'
import { openServer, type Server } from './server.ts'

// An organization with a signed directory and a recovery key moves to a new server with its own database, at the same
// address. Machines go on there. A server that somebody restored from an older archive is refused by machines that remember.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const operator = fileURLToPath(new URL('../../server/src/operator/main.js', import.meta.url))

let source: PeopleServer
let target: Server | undefined
let liar: Liar
let ada: PersonMachine
let bob: PersonMachine
let ci: Machine
let earlyPin: string
let token: string
const archives: Record<'early' | 'late', { path: string; key: string }> = {} as never
const machines: Machine[] = []

const custodians = '--threshold 2 --custodian ada@example.com --custodian bob@example.com --yes'

beforeAll(async () => {
  source = await openPeopleServer()
  liar = await openLiar(source.url)
  ada = await newKeyHolder(source, 'ada@example.com', liar.url)
  bob = await newKeyHolder(source, 'bob@example.com', liar.url)
  machines.push(ada, bob)
  await ada.ok('skerry org create Moving && skerry init --yes --env development && skerry env create staging')
  await ada.ok('printf planted | skerry secrets set A && skerry trust init --yes')
  await ada.ok('skerry invite create bob@example.com --role admin --code-file code')
  const code = (await ada.read('code')).trim()
  await bob.ok(`echo ${code} | skerry invite accept --code`)
  await ada.ok('skerry grant bob@example.com development --yes')
  await ada.ok(`skerry recovery setup ${custodians}`)
  token = (await ada.ok('skerry token create ci --env development')).trim()
  ci = await newPinned()
  archives.early = await exportTo('early.json')
  earlyPin = (await ada.ok('skerry trust pin')).trim()
  await ada.ok('skerry env rekey development --yes && skerry env create preview')
  expect(await ok(ci, 'skerry run -- printenv A')).toBe('planted\n')
  archives.late = await exportTo('late.json')
  await source.stop()
})
afterAll(async () => {
  for (const machine of machines) await machine.remove()
  await liar?.close()
  await target?.close()
  await source?.close()
})

async function exportTo(file: string) {
  const { code, stderr } = await ada.shell(`skerry org export ${file}`)
  expect(code, stderr).toBe(0)
  return { path: join(ada.project, file), key: /--key ([\w-]{43})/.exec(stderr)![1]! }
}

/** A machine that nobody has used before, with the token alone. */
async function newPinned(): Promise<Machine> {
  const machine = await newMachine(liar.url)
  machines.push(machine)
  machine.env.SKERRY_TOKEN = token
  return machine
}

/** Restores an archive to a server with a new database, at the address of the first one. */
async function restore({ path, key }: { path: string; key: string }): Promise<void> {
  await target?.close()
  const { SKERRY_OIDC_ISSUER, SKERRY_OIDC_AUDIENCE, SKERRY_PORT } = source.settings as Record<string, string>
  target = await openServer({ SKERRY_OIDC_ISSUER, SKERRY_OIDC_AUDIENCE, SKERRY_PORT } as Record<string, string>)
  // Only one process can use the embedded database.
  await target.stop()
  await promisify(execFile)(process.execPath, [operator, 'org', 'restore', path, '--key', key], {
    env: { PATH: process.env.PATH, ...target.settings },
  })
  await target.start()
}

const unsigned = async () => JSON.parse(await ada.ok('skerry trust status --json')).unsigned

/** Ada's new machine, with nothing but the project file. */
async function freshAda(): Promise<PersonMachine> {
  const machine = await newMachine(liar.url)
  machines.push(machine)
  Object.assign(machine.env, { ...ada.env, HOME: machine.home, PATH: machine.env.PATH })
  await machine.write('skerry.json', await ada.read('skerry.json'))
  return { ...machine, email: ada.email, ok: (command) => ok(machine, command) }
}

describe('a server that was restored from the newest archive', () => {
  beforeAll(() => restore(archives.late))

  it('is used by a machine that remembers and by a new one that has the pin', async () => {
    for (const [number, machine] of [ada, await freshAda()].entries()) {
      const started = number === 0 ? [] : ['skerry recovery status']
      expect(await machine.ok('skerry run -- printenv A')).toBe('planted\n')
      for (const command of [
        ...started,
        `printf written | skerry secrets set B${number}`,
        `skerry grant bob@example.com staging --yes`,
        'skerry env rekey staging --yes',
        `skerry env create new-${number}`,
        'skerry recovery cover',
        `skerry grant revoke bob@example.com --env staging --yes`,
      ])
        await machine.ok(command)
      expect(await unsigned()).toEqual([])
      expect(JSON.parse(await machine.ok('skerry trust verify --json')).verified).toBe(true)
    }
    expect(JSON.parse(await ada.ok('skerry recovery status --json')).coverage.unprotectedEnvIds).toEqual([])
  })

  it('is used by a token with a pin, after an admin has registered it again', async () => {
    const fresh = await newPinned()
    expect((await ci.shell('skerry run --no-cache -- printenv A')).code).not.toBe(0)
    await ada.write('token', token)
    await ada.ok('skerry token register < token')
    for (const machine of [ci, fresh])
      expect(await machine.shell('skerry run --no-cache -- printenv A')).toMatchObject({
        code: 0,
        stdout: 'planted\n',
        stderr: '',
      })
    await ada.ok('skerry env rekey development --yes')
    expect(await ok(fresh, 'skerry run --no-cache -- printenv A')).toBe('planted\n')
    expect(await unsigned()).toEqual([])
  })
})

describe('a server that was restored from an older archive', () => {
  const newer = { code: 3, stderr: expect.stringContaining('`skerry trust pin <pin> --restored`') }

  beforeAll(() => restore(archives.early))

  it('is refused by machines that remember, which send nothing', async () => {
    liar.lie(/^$/, (body) => body)
    for (const command of [
      'skerry run --no-cache -- printenv A',
      'printf stolen | skerry secrets set A',
      'skerry grant bob@example.com staging --yes',
      'skerry env rekey development --yes',
      'skerry env create stolen',
      'skerry recovery cover',
      'skerry trust sign --yes',
      `skerry trust pin ${earlyPin}`,
    ])
      expect([command, await ada.shell(command)]).toEqual([command, expect.objectContaining(newer)])
    expect(liar.sent()).toEqual([])
  })

  it('is used again after a person has said that it was restored', async () => {
    await ada.ok(`skerry trust pin ${earlyPin} --restored`)
    expect(await unsigned()).toEqual([])
    await ada.ok('skerry env rekey development --yes && skerry env create again && skerry recovery cover')
    await ada.ok('skerry token register < token')
    expect(await ci.shell('skerry run --no-cache -- printenv A')).toMatchObject(newer)
    await ok(ci, `skerry trust pin ${earlyPin} --restored`)
    expect(await ok(ci, 'skerry run --no-cache -- printenv A')).toBe('planted\n')
    expect(await ok(await newPinned(), 'skerry run --no-cache -- printenv A')).toBe('planted\n')
  })
})
