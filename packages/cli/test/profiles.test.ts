import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generateKeyPair } from '@skerry/crypto/keys'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Machine, newMachine } from './machine.ts'
import { openPeopleServer, type PeopleServer, signIn } from './people.ts'

let server: PeopleServer
let machine: Machine
let host: string
let before: string
const email = 'profiles@example.com'
const path = () => join(machine.home, '.config/skerry/credentials.json')
const put = (text: string) => machine.shell(`cat > ${path()}`, { input: text })
const skerry = (line: string, env: Record<string, string> = {}) => machine.skerry(line.split(' '), { env })
const json = async (line: string, env?: Record<string, string>) =>
  JSON.parse((await skerry(`${line} --json`, env)).stdout)

/** The names of the stored credentials, and which of them is used and why. */
async function listed(env?: Record<string, string>, line = 'profile ls') {
  const { profiles, used } = await json(line, env)
  return { names: profiles.map(({ name }: { name: string }) => name), used }
}

beforeAll(async () => {
  server = await openPeopleServer()
  host = new URL(server.url).host
  machine = await newMachine(server.url)
  machine.env.SKERRY_KEYRING = 'off'
  for (const name of ['Acme', 'Globex']) expect((await machine.skerry(['signup', name])).code).toBe(0)
  expect((await signIn(server, machine, email, 'approve', ['--profile', 'me'])).code).toBe(0)
  before = (await machine.shell(`cat ${path()}`)).stdout
})
beforeEach(async () => {
  await put(before)
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

it('an empty SKERRY_TOKEN is refused, and does not become the stored credential', async () => {
  for (const [command, value] of [
    ['app ls', ''],
    ['run -- true', ' \n'],
    ['login --token', ''],
  ] as const)
    expect(await skerry(command, { SKERRY_TOKEN: value })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('SKERRY_TOKEN is empty'),
    })
  expect(await skerry('app ls --profile me', { SKERRY_TOKEN: '' })).not.toMatchObject({
    stderr: expect.stringContaining('SKERRY_TOKEN is empty'),
  })
})

describe('skerry profile ls', () => {
  it('shows each credential without a secret, with its kind, server and organization', async () => {
    const { profiles } = await json('profile ls')
    expect(profiles).toMatchObject([
      { name: `acme@${host}`, kind: 'machine', url: server.url, organization: 'acme', isDefault: false, isUsed: false },
      { name: `globex@${host}`, kind: 'machine', organization: 'globex' },
      { name: 'me', kind: 'person', who: email, organization: null, isDefault: true, isUsed: true },
    ])
    const { stdout, stderr } = await skerry('profile ls')
    expect(stdout).toMatch(new RegExp(`^me +person +${email} +all +${server.url} +used here, default$`, 'm'))
    expect(stderr).toBe('me is used here: it is the default\n')
    for (const secret of before.match(/[\w-]{30,}/g)!) expect(stdout).not.toContain(secret)
  })

  it('says why a credential is used here', async () => {
    const acme = `acme@${host}`
    expect((await listed({ SKERRY_PROFILE: acme })).used).toEqual({
      name: acme,
      why: `${acme} is used here: SKERRY_PROFILE names it`,
    })
    expect((await listed({}, `profile ls --profile ${acme}`)).used.why).toContain('--profile names it')
    expect((await listed({ SKERRY_TOKEN: 'x' })).used).toEqual({
      name: null,
      why: 'SKERRY_TOKEN is used here, and no stored credential',
    })
    expect((await listed({ SKERRY_URL: 'http://127.0.0.1:1' })).used.why).toBe(
      'no credential is used here: none fits SKERRY_URL',
    )
    await skerry(`profile use globex@${host}`)
    await machine.write('skerry.json', JSON.stringify({ url: server.url, org: 'acme' }))
    expect((await listed({ SKERRY_URL: '' })).used).toEqual({
      name: acme,
      why: `${acme} is used here: it fits skerry.json`,
    })
    await machine.shell('rm skerry.json')
  })

  it('lists the credentials even if the settings name one that is not there', async () => {
    const { code, stdout, stderr } = await skerry('profile ls', { SKERRY_PROFILE: 'gone' })
    expect([code, stdout]).toEqual([0, expect.stringContaining('me')])
    expect(stderr).toContain("warning: there is no profile 'gone'")
  })

  it('says how to sign in if nothing is stored', async () => {
    await machine.shell(`rm ${path()}`)
    const { code, stderr } = await skerry('profile ls')
    expect([code, stderr]).toEqual([0, expect.stringContaining('next: `skerry login`')])
  })
})

describe('the keys of another profile of this machine', () => {
  it('need no comparison, unless the server shows another key for them', async () => {
    await machine.write('passphrase', 'a passphrase of mine')
    const env = { SKERRY_PASSPHRASE_FILE: 'passphrase' }
    expect(await skerry('keys init --profile me', env)).toMatchObject({ code: 0 })
    for (const line of ['init --yes --env development', `invite create ${email}`])
      expect(await skerry(`${line} --profile acme`, env)).toMatchObject({ code: 0 })
    expect(await skerry('invite accept --profile me', env)).toMatchObject({ code: 0 })
    const granting = `grant ${email} --all --profile acme`
    const sealed = (await machine.shell('ls ~/.local/state/skerry/keyring/*.json')).stdout.trim()
    const { publicKeyJwk } = await generateKeyPair()
    const kept = await readFile(sealed, 'utf8')
    await writeFile(sealed, JSON.stringify({ ...JSON.parse(kept), publicKeyJwk }))
    const asked = await skerry(`${granting} --yes`)
    expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining(`run again with --reader ${email}`) })
    await writeFile(sealed, kept)
    const plain = await skerry(granting)
    expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('Run again with `--yes`') })
    const granted = await skerry(`${granting} --yes`)
    expect(granted).toMatchObject({ code: 0, stderr: expect.stringContaining(`to ${email}`) })
    expect(granted.stderr).not.toContain('compare the words')
    await machine.shell('rm skerry.json')
  })
})

describe('skerry profile show', () => {
  it('describes one credential, the one in use unless it is named', async () => {
    expect(await json('profile show')).toMatchObject({ name: 'me', kind: 'person', isUsed: true, file: path() })
    const { stdout } = await skerry('profile show acme')
    expect(stdout).toMatch(new RegExp(`^acme@${host}: machine CLI on .+\\nid: skt_`))
    expect(stdout).toContain('organization: acme\n')
  })

  it('is refused if no stored credential is used here', async () => {
    const { code, stderr } = await skerry('profile show', { SKERRY_TOKEN: 'x' })
    expect([code, stderr]).toEqual([4, expect.stringContaining('SKERRY_TOKEN is used here')])
  })
})

describe('skerry profile use', () => {
  it('makes a credential the default', async () => {
    const { code, stderr } = await skerry(`profile use globex@${host}`)
    expect([code, stderr]).toEqual([0, `globex@${host} is the default now\n`])
    expect((await listed()).used.name).toBe(`globex@${host}`)
    expect((await skerry('whoami')).stdout).toContain('Globex')
  })

  it('says so if another one is still used here', async () => {
    const { stderr } = await skerry('profile use acme', { SKERRY_PROFILE: 'me' })
    expect(stderr).toContain('me is used here: SKERRY_PROFILE names it')
  })

  it('refuses a name that is not there, and a replaced token', async () => {
    const unknown = await skerry('profile use constructor')
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('known profiles: ')])
    const file = JSON.parse(before)
    file.profiles['acme~1'] = file.profiles[`acme@${host}`]
    await put(JSON.stringify(file))
    const replaced = await skerry('profile use acme~1')
    expect([replaced.code, replaced.stderr]).toEqual([2, expect.stringContaining('--profile acme~1')])
    expect((await listed()).used.name).toBe('me')
  })
})

describe('skerry profile rm', () => {
  it('forgets a session here, leaves it open at the server, and chooses another default', async () => {
    const refused = await skerry('profile rm me')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('`skerry logout --profile me` ends it')])
    expect((await listed()).names).toContain('me')
    const { code, stderr } = await skerry('profile rm me --yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining(`the default is acme@${host}`)])
    expect((await listed()).names).toEqual([`acme@${host}`, `globex@${host}`])
    await put(before)
    expect((await skerry('whoami')).stdout).toContain(email)
  })

  it('asks before it removes a token, which may be the only key', async () => {
    const { code, stderr } = await skerry('profile rm acme')
    expect([code, stderr]).toEqual([2, expect.stringContaining('keys that may have no other copy')])
    const removed = await skerry('profile rm acme --yes')
    expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('end it with `skerry token revoke`')])
    expect((await listed()).names).not.toContain(`acme@${host}`)
  })

  it('does not advise to revoke a token that another profile has too', async () => {
    const file = JSON.parse(before)
    file.profiles.again = file.profiles[`acme@${host}`]
    await put(JSON.stringify(file))
    const { code, stderr } = await skerry('profile rm again --yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining(`the profile acme@${host} has the same token`)])
    expect(stderr).not.toContain('revoke')
  })
})

describe('with a damaged credentials file', () => {
  const commands = ['profile ls', 'profile show', 'profile use me', 'profile rm me --yes', 'whoami']

  it.each([
    ['no JSON', '{"version":1, "profiles": {"me": "secret-in-a-damaged-file'],
    ['another version', '{"version":2,"current":null,"profiles":{}}'],
    ['a list of profiles', '{"version":1,"current":null,"profiles":[]}'],
    ['a profile that is a text', '{"version":1,"current":null,"profiles":{"me":"secret-in-a-damaged-file"}}'],
    [
      'a profile without a server',
      '{"version":1,"current":"me","profiles":{"me":{"token":"secret-in-a-damaged-file"}}}',
    ],
  ])('such as %s, each command is refused and changes nothing', async (_, text) => {
    await put(text)
    for (const line of commands) {
      const { code, stdout, stderr } = await skerry(line)
      expect([line, code, stdout]).toEqual([line, 1, ''])
      expect(stderr).toMatch(
        /credentials\.json is not a credentials file of this version; move it away and sign in again\n$/,
      )
    }
    expect((await machine.shell(`cat ${path()}`)).stdout).toBe(text)
  })

  it('such as a folder of that name, each command says so', async () => {
    await machine.shell(`rm ${path()}; mkdir ${path()}`)
    for (const line of commands) {
      const { code, stderr } = await skerry(line)
      expect([code, stderr]).toEqual([1, expect.stringContaining('credentials.json: it is a folder')])
    }
    await machine.shell(`rmdir ${path()}`)
  })
})

it('skerry logout names the token that commands use from then on, and how to remove it', async () => {
  const { code, stderr } = await skerry('logout --local')
  expect([code, stderr]).toEqual([0, expect.stringMatching(/commands now act as .* in profile (acme|globex)@/)])
  expect(stderr).toMatch(/remove it with `skerry profile rm '?(acme|globex)@/)
})
