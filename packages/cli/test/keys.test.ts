import { readdir, readFile, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../server/test/until.ts'
import {
  newKeyHolder,
  newPersonMachine,
  openPeopleServer,
  type PeopleServer,
  type PersonMachine,
  passphrase,
} from './people.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())

const machines: PersonMachine[] = []
afterEach(async () => {
  for (const machine of machines.splice(0)) {
    await machine.skerry(['keys', 'lock'])
    await machine.remove()
  }
})
let count = 0
const newcomer = async () => kept(await newPersonMachine(server, `keys-${++count}@example.com`))
const holder = async () => kept(await newKeyHolder(server, `keys-${++count}@example.com`))
function kept(machine: PersonMachine): PersonMachine {
  machines.push(machine)
  return machine
}

describe('skerry keys init', () => {
  it('asks for the passphrase twice, shows the key as twelve words, and refuses to run again', async () => {
    const machine = await newcomer()
    const { code, stdout } = await machine.terminal('skerry keys init', [
      ['New passphrase', `${passphrase}\r`],
      ['once more', `${passphrase}\r`],
    ])
    expect(code).toBe(0)
    expect(stdout).not.toContain(passphrase)
    const words = (await machine.ok('skerry keys fingerprint')).trim()
    expect(words.split(' ')).toHaveLength(12)
    expect(stdout).toContain(words)
    const again = await machine.skerry(['keys', 'init'], { input: passphrase })
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining('you have keys already')])
  })

  it('refuses two different passphrases', async () => {
    const machine = await newcomer()
    const { code, stdout } = await machine.terminal('skerry keys init', [
      ['New passphrase', `${passphrase}\r`],
      ['once more', 'five random words of yours\r'],
      ['the two passphrases differ; try again', '\x03'],
    ])
    expect([code, stdout]).toEqual([130, expect.stringContaining('the two passphrases differ; try again')])
    expect(await machine.ok('skerry keys status')).toContain('none yet')
  })

  it('refuses a weak passphrase, and uploads nothing', async () => {
    const machine = await newcomer()
    const { code, stderr } = await machine.skerry(['keys', 'init'], { input: 'short\n' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('at least 12 characters')])
    expect(stderr).not.toContain('short')
    expect(await machine.ok('skerry keys status')).toContain('none yet')
  })

  it('refuses a service token, which contains its key', async () => {
    const machine = await newcomer()
    delete machine.env.SKERRY_TOKEN
    await machine.skerry(['signup', `Keys ${++count}`])
    const { code, stderr } = await machine.skerry(['keys', 'init'], { input: passphrase })
    expect([code, stderr]).toEqual([2, expect.stringContaining('is a service token')])
  })
})

describe('skerry keys kit', () => {
  const codeIn = (text: string) => /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){6}/.exec(text)?.[0]

  it('shows a code once, on a terminal, which opens the keyring where the passphrase is asked for', async () => {
    const machine = await holder()
    const { code: exit, stdout } = await machine.terminal('skerry keys kit')
    const code = codeIn(stdout)!
    expect([exit, code]).toEqual([0, expect.any(String)])
    expect(await machine.ok('skerry keys status')).toMatch(/recovery kit: made \d{4}-/)
    const forgotten = await machine.terminal('env -u SKERRY_PASSPHRASE_FILE skerry keys passphrase', [
      ['Passphrase of your keyring, or the code of your recovery kit', 'not the one\r'],
      ['once more, or the code of your recovery kit', `${code.toLowerCase().replaceAll('-', ' ')}\r`],
      ['New passphrase', 'five new words of mine\r'],
      ['New passphrase, once more', 'five new words of mine\r'],
    ])
    expect([forgotten.code, forgotten.stdout]).toEqual([0, expect.stringContaining('still opens your keyring')])
    expect(forgotten.stdout).not.toContain(code)
    const env = { SKERRY_PASSPHRASE_FILE: '' }
    const unlock = (input: string) => machine.skerry(['keys', 'unlock'], { env, input: `${input}\n` })
    expect(await unlock(passphrase)).toMatchObject({ code: 3 })
    expect(await unlock('five new words of mine')).toMatchObject({ code: 0 })
    expect(await unlock(code)).toMatchObject({ code: 0 })
  })

  it('writes the code into no pipe unless JSON was asked for, and makes no kit then', async () => {
    const machine = await holder()
    const refused = await machine.skerry(['keys', 'kit'])
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, '', expect.stringContaining('add --json')])
    expect(await machine.ok('skerry keys status')).toContain('recovery kit: none')
    const { code } = JSON.parse(await machine.ok('skerry keys kit --json'))
    expect(codeIn(code)).toBe(code)
  })

  it('replaces an earlier kit only after a confirmation, and its code then opens nothing', async () => {
    const machine = await holder()
    const first = JSON.parse(await machine.ok('skerry keys kit --json')).code
    expect(await machine.skerry(['keys', 'kit', '--json'])).toMatchObject({ code: 2, stdout: '' })
    const second = JSON.parse(await machine.ok('skerry keys kit --json --yes')).code
    const env = { SKERRY_PASSPHRASE_FILE: '' }
    const old = await machine.skerry(['keys', 'unlock'], { env, input: first })
    expect([old.code, old.stderr]).toEqual([3, expect.stringContaining('this code does not open your keyring')])
    expect(old.stderr).not.toContain(first)
    await machine.ok('skerry keys kit --remove --yes')
    expect(await machine.skerry(['keys', 'unlock'], { env, input: second })).toMatchObject({ code: 3 })
  })

  it('is removed with a change of the passphrase if that is asked for, and by a replaced key pair', async () => {
    const machine = await holder()
    await machine.write('../new', 'five new words of mine\n')
    const status = () => machine.ok('skerry keys status')
    await machine.ok('skerry keys kit --json')
    await machine.ok('skerry keys passphrase --new-file ../new --remove-kit')
    expect(await status()).toContain('recovery kit: none')
    machine.env.SKERRY_PASSPHRASE_FILE = `${machine.home}/new`
    await machine.ok('skerry keys kit --json')
    await machine.ok('skerry keys replace --yes --new-file ../new')
    expect(await status()).toContain('recovery kit: none')
  })
})

describe('a keyring', () => {
  it('opens keys without the passphrase while it is unlocked', async () => {
    const machine = await holder()
    await machine.ok(
      `skerry org create "Unlock ${count}" && skerry init --yes --env development && echo -n v | skerry secrets set A`,
    )
    const env = { SKERRY_PASSPHRASE_FILE: '' }
    const run = () => machine.skerry(['run', '--', 'sh', '-c', 'echo $A'], { env })
    expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining('your keyring is locked') })
    await machine.ok('skerry keys unlock')
    expect(await run()).toMatchObject({ code: 0, stdout: 'v\n' })
    expect(await machine.ok('skerry keys status')).toContain('unlocked for another 15 min')
    await machine.ok('skerry keys lock')
    expect(await run()).toMatchObject({ code: 3 })
  })

  it('locks by itself when it is not used', async () => {
    const machine = await holder()
    await machine.ok('skerry keys unlock --for 1s')
    await until('its agent has ended', async () => (await processesOf(machine.home)).length === 0)
    expect(await machine.ok('skerry keys status')).toContain('\nlocked')
  })

  it('leaves nothing secret in arguments, environment, files or output, and only its owner can use its socket', async () => {
    const machine = await holder()
    const { stdout, stderr } = await machine.skerry(['keys', 'unlock', '--debug', '--json'])
    const agents = await processesOf(machine.home)
    expect(agents).toHaveLength(1)
    for (const text of [stdout, stderr, ...agents])
      expect(text).not.toMatch(/passphrase file|five random|MIG[A-Za-z]|eyJ/)
    const folder = join(machine.home, '.local/state/skerry')
    const socket = (await readdir(folder)).find((name) => name.startsWith('agent-'))!
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, socket))).mode & 0o077).toBe(0)
  })

  it('signs only policies and documents of the directory, and gives no key to a program that reaches its socket', async () => {
    const machine = await holder()
    await machine.ok('skerry keys unlock')
    const folder = join(machine.home, '.local/state/skerry')
    const socket = join(folder, (await readdir(folder)).find((name) => name.startsWith('agent-'))!)
    const sign = (body: string) => ({ op: 'sign-policy', body: Buffer.from(body).toString('base64url') })
    const policy = { v: 1, org: 'o', agent: 'a', policy_version: 1, issued_at: 0, expires_at: 1, rules: [] }
    const asked = [
      ...['export', 'private-key', 'sign', 'derive'].map((op) => ({ op, body: 'AAAA', blob: 'AAAA' })),
      { op: 'unwrap', blob: 'wd1.AAAA' },
      sign('a challenge'),
      sign('{}'),
      sign('["org","agent"]'),
      sign(JSON.stringify(policy)),
      sign(JSON.stringify({ ...policy, signer: { kid: 'k', jwk: { crv: 'P-256', kty: 'EC', x: 1, y: 2 } } })),
      { op: 'sign-directory', body: Buffer.from('a challenge').toString('base64url') },
      'no object',
    ]
    for (const request of asked) expect(await answerOf(socket, request)).toEqual({ error: expect.any(String) })
    expect(Object.keys((await answerOf(socket, { op: 'status' })) as object)).toEqual(['status'])
  })

  it('does not open with a wrong passphrase, and the error does not repeat it', async () => {
    const machine = await holder()
    const wrong = 'five other words of mine'
    const { code, stderr } = await machine.skerry(['keys', 'unlock'], {
      env: { SKERRY_PASSPHRASE_FILE: '' },
      input: `${wrong}\n`,
    })
    expect([code, stderr]).toEqual([3, expect.stringContaining('does not open your keyring')])
    expect(stderr).not.toContain(wrong)
  })

  it('lets a person at a terminal type a wrong passphrase first', async () => {
    const machine = await holder()
    const { code } = await machine.terminal('env -u SKERRY_PASSPHRASE_FILE skerry keys unlock', [
      ['Passphrase', 'not the one\r'],
      ['once more', `${passphrase}\r`],
    ])
    expect(code).toBe(0)
  })

  it('opens a last-known-good copy while the server is unavailable', async () => {
    const machine = await holder()
    await machine.ok(
      `skerry org create "Away ${count}" && skerry init --yes --env development && echo -n v | skerry secrets set A`,
    )
    await machine.ok('skerry keys unlock && skerry run -- true && skerry keys lock')
    await server.stop()
    try {
      expect(await machine.ok('skerry run --offline -- printenv A')).toBe('v\n')
    } finally {
      await server.start()
    }
  })
})

/** Sends one request to the agent at a socket, and returns its answer. */
async function answerOf(path: string, request: unknown): Promise<unknown> {
  const socket = createConnection(path)
  socket.end(`${JSON.stringify(request)}\n`)
  return JSON.parse(await text(socket))
}

/** Command line and environment of every process that mentions a folder. */
async function processesOf(home: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const texts = await Promise.all(
    ids.map(async (id) => {
      const read = (file: string) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '')
      return `${await read('cmdline')}\n${await read('environ')}`
    }),
  )
  return texts.filter((text) => text.includes('keyring/agent-process.js') && text.includes(home))
}
