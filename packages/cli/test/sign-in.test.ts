import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkWebAddress, hasDesktop } from '../src/desktop.ts'
import { type Machine, newMachine } from './machine.ts'
import { ok, openPeopleServer, type PeopleServer, signIn } from './people.ts'

let server: PeopleServer
let machine: Machine
let email: string
let count = 0

beforeAll(async () => {
  server = await openPeopleServer()
})
afterAll(() => server.close())

/** Runs `skerry login` on a new machine, and approves or denies the code that it prints. */
async function login(decision: 'approve' | 'deny', on?: Machine) {
  if (!on) {
    machine = await newMachine(server.url)
    machine.env.SKERRY_KEYRING = 'off'
    email = `login-${++count}@example.com`
  }
  return signIn(server, machine, email, decision)
}

const credentials = () => readFile(join(machine.home, '.config/skerry/credentials.json'), 'utf8')

describe('skerry login', () => {
  it('waits until a person approves the code, and then signs that person in', async () => {
    const { code, stdout, stderr } = await login('approve')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ email, profile: `${email}@${new URL(server.url).host}` })
    expect(stderr).toContain(`open ${server.url}/cli/`)
    expect(stderr).toContain('skerry keys init')
    expect(await ok(machine, 'skerry whoami')).toContain(`person ${email}`)
    expect(await ok(machine, 'skerry sessions ls')).toContain(' *')
    await machine.remove()
  })

  it('keeps the session under the name that --profile gives', async () => {
    machine = await newMachine(server.url)
    machine.env.SKERRY_KEYRING = 'off'
    email = `login-${++count}@example.com`
    const { code, stdout } = await signIn(server, machine, email, 'approve', ['--profile', 'work'])
    expect([code, JSON.parse(stdout).profile]).toEqual([0, 'work'])
    expect(await ok(machine, 'skerry whoami --profile work')).toContain(`person ${email}`)
    const replaced = await machine.skerry(['login', '--token', '--profile', 'work'], { input: 'none' })
    expect([replaced.code, replaced.stderr]).toEqual([2, expect.stringContaining('work is a person’s session')])
    await machine.remove()
  })

  it('says that the person acts from now on, and how the token of the same organization shares its keys', async () => {
    machine = await newMachine(server.url)
    machine.env.SKERRY_KEYRING = 'off'
    email = `login-${++count}@example.com`
    await ok(machine, `skerry signup "Both ${count}" --email ${email}`)
    const bearer = await server.issuer.token({ sub: `sub-${email}`, email, email_verified: true })
    await ok(machine, `SKERRY_TOKEN=${bearer} skerry invite accept`)
    const { stderr } = await login('approve', machine)
    const profile = `both-${count}@${new URL(server.url).host}`
    expect(stderr).toContain(`commands now act as ${email}, and no longer as the token in profile ${profile}`)
    expect(stderr).toContain(`skerry grant ${email} --all --profile ${profile}`)
    expect(await ok(machine, 'skerry whoami')).toContain(`person ${email}`)
    // The slug of the organization names the token, although the session was begun in the same organization.
    for (const named of [profile, `both-${count}`])
      expect(JSON.parse(await ok(machine, `skerry whoami --json --profile ${named}`))).toMatchObject({
        principal: { type: 'service_token', id: expect.stringMatching(/^skt_/) },
      })
    await machine.remove()
  })

  it('stores nothing if the person denies the code', async () => {
    const { code, stderr } = await login('deny')
    expect([code, stderr]).toEqual([3, expect.stringContaining('denied')])
    expect((await machine.skerry(['whoami'])).code).toBe(3)
    await machine.remove()
  })

  it('leaves no usable credential in the credentials file or on the screen', async () => {
    const { stdout, stderr } = await login('approve')
    for (const text of [stdout, stderr, await credentials()]) expect(text).not.toMatch(/skc_[0-9A-Za-z]{22}_/)
    const key = join(machine.home, '.local/state/skerry/session.key')
    expect(await ok(machine, `stat -c %a ${key}`)).toBe('600\n')
    await machine.shell(`rm ${key}`)
    const { code, stderr: told } = await machine.skerry(['whoami'])
    expect([code, told]).toEqual([3, expect.stringContaining('skerry login')])
    await machine.remove()
  })

  it('ends the session that it replaces', async () => {
    await login('approve')
    await login('approve', machine)
    const { sessions } = JSON.parse(await ok(machine, 'skerry sessions ls --json'))
    expect(sessions.map((one: { revokedAt: string | null }) => one.revokedAt === null)).toEqual([true, false])
    await machine.remove()
  })

  it('leaves the choice of one of several organizations to --org or the project', async () => {
    await login('approve')
    await ok(machine, `skerry org create "One ${count}" && skerry org create "Two ${count}"`)
    const unsaid = await machine.skerry(['app', 'list'])
    expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining(`one-${count}, two-${count}`)])
    await ok(machine, `echo 'my own random passphrase' | skerry keys init`)
    await machine.write('../pass', 'my own random passphrase')
    machine.env.SKERRY_PASSPHRASE_FILE = join(machine.home, 'pass')
    await ok(machine, `skerry init --yes --env development --org two-${count} && echo -n v | skerry secrets set A`)
    expect(await ok(machine, 'skerry run -- printenv A')).toBe('v\n')
    await machine.remove()
  })
})

describe('skerry logout', () => {
  it('ends the session at the server, and removes it from this machine', async () => {
    await login('approve')
    const before = await credentials()
    await ok(machine, 'skerry logout')
    expect((await machine.skerry(['whoami'])).code).toBe(3)
    await machine.write('../.config/skerry/credentials.json', before)
    const { code, stderr } = await machine.skerry(['whoami'])
    // The bearer can still be decrypted on this machine, but the server refuses it.
    expect([code, stderr]).toEqual([3, expect.stringContaining('check the credential')])
    await machine.remove()
  })

  it('keeps the session if the server is unavailable, unless --local is given', async () => {
    await login('approve')
    await server.stop()
    try {
      expect((await machine.skerry(['logout'])).code).toBe(6)
      expect((await machine.skerry(['logout', '--local'])).code).toBe(0)
    } finally {
      await server.start()
    }
    expect(await credentials()).not.toContain(email)
    await machine.remove()
  })

  it('is not needed after a session was revoked: its next request is refused', async () => {
    await login('approve')
    const { currentSessionId } = JSON.parse(await ok(machine, 'skerry sessions ls --json'))
    await ok(machine, `skerry sessions revoke ${currentSessionId} --yes`)
    expect((await machine.skerry(['whoami'])).code).toBe(3)
    await machine.remove()
  })
})

describe('a browser', () => {
  it.each([
    ['a desktop', { DISPLAY: ':0' }, 'linux', true],
    ['Wayland', { WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true],
    ['macOS', {}, 'darwin', true],
    ['a desktop reached over SSH', { DISPLAY: ':10', SSH_CONNECTION: '1 2 3 4' }, 'linux', false],
    ['macOS over SSH', { SSH_TTY: '/dev/ttys1' }, 'darwin', false],
    ['a server', {}, 'linux', false],
  ])('is opened on %s: %j on %s', (_, env, platform, opened) => {
    expect(hasDesktop(env, platform)).toBe(opened)
  })

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'vscode://x', 'nonsense', '--help'])(
    'is never given %s',
    (address) => expect(() => checkWebAddress(address)).toThrow(/not a web page/),
  )
})
