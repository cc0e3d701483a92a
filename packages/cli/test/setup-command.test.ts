import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import {
  newKeyHolder,
  newPersonMachine,
  ok,
  openPeopleServer,
  type PeopleServer,
  type PersonMachine,
} from './people.ts'

let server: PeopleServer
let alice: PersonMachine
let bob: PersonMachine

beforeAll(async () => {
  server = await openPeopleServer()
  alice = await newKeyHolder(server, 'alice@example.com')
  bob = await newKeyHolder(server, 'bob@example.com')
  await alice.ok('skerry org create "Acme Stores" --slug acme && skerry init --yes --env development')
  await alice.ok('skerry env create production --app shop && skerry app create web')
  await alice.ok('skerry invite create bob@example.com')
  await bob.ok('skerry invite accept acme')
})
afterAll(async () => {
  await Promise.all([alice.remove(), bob.remove()])
  await server.close()
})

/** Runs `skerry setup` in a new folder of that machine, with this `skerry.json` unless it is null. */
async function setUp(machine: Machine, file: object | null, options = '', env: Record<string, string> = {}) {
  const cwd = `${machine.home}/folder-${++count}`
  await machine.shell(`mkdir ${cwd}; cat > ${cwd}/skerry.json`, { input: JSON.stringify(file) })
  if (file === null) await machine.shell(`rm ${cwd}/skerry.json`)
  const ended = await machine.skerry(['setup', ...options.split(' ').filter(Boolean)], { cwd, env })
  const { stdout } = await machine.shell('cat skerry.json 2>/dev/null; true', { cwd })
  return { ...ended, written: stdout === '' ? null : JSON.parse(stdout) }
}
let count = 0

const project = (env: string) => ({ url: server.url, org: 'acme', app: 'shop', env })

describe('skerry setup in a folder with a skerry.json', () => {
  it('shows what the folder uses, and the next command of a person who can read it', async () => {
    const { code, stderr, written } = await setUp(alice, project('development'))
    expect(code).toBe(0)
    expect(stderr).toBe(
      'this folder uses Acme Stores (acme), shop/development\nyou can read it\nnext: `skerry run -- <program>`\n',
    )
    expect(written).toEqual(project('development'))
  })

  it('says what somebody must run for a person who cannot read it', async () => {
    const { code, stderr, stdout } = await setUp(bob, project('production'), '--json')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/warning: you cannot read it: .*`skerry grant .*bob@example\.com/),
    ])
    expect(JSON.parse(stdout)).toMatchObject({
      org: 'acme',
      app: 'shop',
      env: 'production',
      canRead: false,
      changed: false,
    })
  })

  it('says how to make keys to a person who has none, and how to join to one who is no member', async () => {
    const carol = await newPersonMachine(server, 'carol@example.com')
    const stranger = await setUp(carol, project('development'))
    expect([stranger.code, stranger.stderr]).toEqual([4, expect.stringContaining('`skerry invite mine`')])
    await alice.ok('skerry invite create carol@example.com')
    expect((await carol.shell('skerry invite accept acme')).stderr).toContain('next: `skerry keys init`')
    const { code, stderr } = await setUp(carol, project('development'))
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('next: `skerry keys init`, because you have no keys yet'),
    ])
    await carol.remove()
  })

  it('says that a variable wins over the file', async () => {
    const { stderr, written } = await setUp(alice, project('development'), '', { SKERRY_ENV: 'production' })
    expect(stderr).toContain('shop/production')
    expect(stderr).toContain('SKERRY_APP or SKERRY_ENV chose it; skerry.json names shop/development')
    expect(written).toEqual(project('development'))
  })

  it('changes the file for everyone only with --yes, and keeps its other settings', async () => {
    const file = { ...project('development'), allowNames: ['LD_PRELOAD'] }
    const refused = await setUp(alice, file, '--env production')
    expect([refused.code, refused.stderr, refused.written]).toEqual([
      2,
      expect.stringContaining('set SKERRY_ENV instead'),
      file,
    ])
    const { code, written } = await setUp(alice, file, '--env production --yes')
    expect([code, written]).toEqual([0, { ...file, env: 'production' }])
  })

  it('changes the address of the server with --url, and keeps the pin and the other settings', async () => {
    const file = {
      ...project('development'),
      url: 'https://old.example.com',
      pin: 'A'.repeat(43),
      paths: { api: { app: 'web' } },
      allowNames: ['LD_PRELOAD'],
    }
    const refused = await setUp(alice, file, `--url ${server.url}`)
    expect([refused.code, refused.stderr, refused.written]).toEqual([
      2,
      expect.stringContaining(`changes skerry.json to the server ${server.url}, for everyone who uses it`),
      file,
    ])
    expect(refused.stderr).toContain('set SKERRY_URL instead')
    const moved = await setUp(alice, file, `--url ${server.url} --yes`)
    expect([moved.code, moved.written]).toEqual([0, { ...file, url: server.url }])
    expect(moved.stderr).toContain(`wrote skerry.json: acme, shop/development at ${server.url}`)
    const both = await setUp(alice, file, `--url ${server.url} --env production --yes`)
    expect([both.code, both.written]).toEqual([0, { ...file, url: server.url, env: 'production' }])
    expect((await setUp(alice, project('development'), `--url ${server.url}`)).stderr).not.toContain('wrote')
  })

  it('changes the address in the file above, and says that SKERRY_URL wins over the file', async () => {
    const file = { ...project('development'), url: 'https://old.example.com' }
    await alice.shell('mkdir -p ~/mono/api && cat > ~/mono/skerry.json', { input: JSON.stringify(file) })
    const cwd = `${alice.home}/mono/api`
    const chosen = await alice.skerry(['setup'], { cwd })
    expect(chosen.stderr).toContain(
      `SKERRY_URL chose the server ${server.url}; skerry.json names https://old.example.com`,
    )
    expect(await alice.skerry(['setup', '--url', server.url, '--yes'], { cwd })).toMatchObject({ code: 0 })
    const { stdout } = await alice.shell('cat ../skerry.json; ls', { cwd })
    expect(JSON.parse(stdout)).toEqual({ ...file, url: server.url })
  })

  it('refuses a place that does not exist, and a damaged file', async () => {
    const { code, stderr, written } = await setUp(alice, project('development'), '--env nowhere --yes')
    expect([code, stderr, written]).toEqual([
      4,
      expect.stringContaining('no environment shop/nowhere'),
      project('development'),
    ])
    expect((await setUp(alice, project('gone'))).code).toBe(4)
    expect(await setUp(alice, { ...project('development'), wrong: 1 })).toMatchObject({ code: 2 })
  })
})

describe('skerry setup in a folder without a skerry.json', () => {
  it('writes the file that init writes, and creates nothing', async () => {
    const { code, stderr, stdout, written } = await setUp(alice, null, '--app shop --env production --json')
    expect([code, written]).toEqual([0, project('production')])
    expect(stderr).toContain('next: `skerry run -- <program>`')
    expect(JSON.parse(stdout)).toMatchObject({ ...project('production'), canRead: true, changed: true })
    const unknown = await setUp(alice, null, '--app nothing --env production')
    expect([unknown.code, unknown.written]).toEqual([4, null])
  })

  it('adds a folder of a monorepo to the file above', async () => {
    await alice.ok('mkdir -p packages/api && cd packages/api && skerry setup --app shop --env production --yes')
    expect(JSON.parse(await alice.read('skerry.json')).paths).toEqual({
      'packages/api': { app: 'shop', env: 'production' },
    })
  })

  it('says what to name without a terminal', async () => {
    const app = await setUp(alice, null)
    expect([app.code, app.stderr, app.written]).toEqual([
      2,
      expect.stringContaining('add --app with one of: shop, web'),
      null,
    ])
    const env = await setUp(alice, null, '--app shop')
    expect([env.code, env.stderr]).toEqual([
      2,
      expect.stringContaining('add --env with one of: development, production'),
    ])
    const none = await setUp(alice, null, '--app web')
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('`skerry env create development --app web`')])
  })

  it('asks on a terminal for organization, application and environment', async () => {
    await alice.ok('skerry org create Globex')
    const unnamed = await setUp(alice, null, '--app shop --env development')
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('add --org with one of: acme, globex')])
    await alice.shell('mkdir ~/chosen')
    const { code } = await alice.terminal(`sh -c 'cd ~/chosen && skerry setup'`, [
      ['Which organization', '\r'],
      ['Which application of acme', '\r'],
      ['Which environment do you work with', '\u001b[B\r'],
    ])
    expect([code, JSON.parse(await alice.read('../chosen/skerry.json'))]).toEqual([0, project('production')])
    await alice.shell('mkdir ~/cancelled')
    const cancelled = await alice.terminal(`sh -c 'cd ~/cancelled && skerry setup'`, [['Which organization', '\x03']])
    expect([cancelled.code, (await alice.shell('ls ~/cancelled')).stdout]).toEqual([130, ''])
    const empty = await setUp(alice, null, '--org globex')
    expect([empty.code, empty.stderr]).toEqual([4, expect.stringContaining('run `skerry init`')])
  })

  it('tells a machine what it can read, and needs no file for a token of one environment', async () => {
    const admin = await signedUp(server.url, 'Machines')
    await ok(admin, 'skerry env create production')
    const machine = await newMachine(server.url)
    expect(await setUp(machine, null)).toMatchObject({ code: 3, stderr: expect.stringContaining('`skerry login`') })
    const token = (await ok(admin, 'skerry token create ci --app shop --env development')).trim()
    machine.env.SKERRY_TOKEN = token
    const bound = await setUp(machine, null)
    expect(bound).toMatchObject({ code: 0, written: null })
    expect(bound.stderr).toBe(
      'this token is bound to shop/development and needs no skerry.json\nyou can read it\nnext: `skerry run -- <program>`\n',
    )
    await Promise.all([admin.remove(), machine.remove()])
  })
})

describe('skerry init in a folder with a skerry.json', () => {
  it('asks before it names another place there, and needs --yes without a terminal', async () => {
    const cwd = `${alice.home}/initialized`
    const text = JSON.stringify(project('development'))
    await alice.shell(`mkdir ${cwd}; cat > ${cwd}/skerry.json`, { input: text })
    const refused = await alice.skerry(['init', '--app', 'other'], { cwd })
    const change = 'changes skerry.json from shop/development to other/development, for everyone who uses it'
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(change)])
    expect((await alice.shell('cat skerry.json', { cwd })).stdout).toBe(text)
    expect(await alice.ok('skerry app ls')).not.toContain('other')
    const agreed = await alice.skerry(['init', '--app', 'other', '--yes'], { cwd })
    expect([agreed.code, agreed.stderr]).toEqual([
      0,
      expect.stringContaining(
        'only you can read other/development, other/staging, other/production until you grant others',
      ),
    ])
    expect(JSON.parse((await alice.shell('cat skerry.json', { cwd })).stdout).app).toBe('other')
  })
})
