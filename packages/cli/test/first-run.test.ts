import { randomBytes } from 'node:crypto'
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Machine, newMachine } from './machine.ts'
import { openServer, openServerProcess, type Server } from './server.ts'

// From `npm start` to the first secret: one organization, at the command line and in the dashboard.

const linkForm = /^http:\/\/\S+\/sign-in\/link#[\w-]{43}\n?$/

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServerProcess({ SKERRY_SERVER_KEY: randomBytes(32).toString('base64url') })
})
afterAll(() => server.close())
beforeEach(async () => {
  machine = await newMachine(server.url)
  // The folder then looks like the one that the server was started in.
  await symlink(server.settings.SKERRY_DATA_DIR as string, `${machine.project}/.skerry`)
})
afterEach(() => machine.remove())

/** Opens a link as the dashboard does. Returns the organizations of the person. */
async function open(link: string): Promise<[slug: string, role: string][]> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ token: new URL(link).hash.slice(1) })
  const redeemed = await fetch(`${server.url}/v1/sign-in/links/redeem`, { ...post, body })
  const { session } = (await redeemed.json()) as { session: { token: string } }
  const answer = await fetch(`${server.url}/v1/orgs`, { headers: { authorization: `Bearer ${session.token}` } })
  const { orgs } = (await answer.json()) as { orgs: { slug: string; role: string }[] }
  return orgs.map(({ slug, role }) => [slug, role])
}

test('signup invites the person, and the link on stdout makes them the owner of that organization', async () => {
  const { code, stdout, stderr } = await machine.skerry(['signup', 'Acme', '--email', 'Ada@example.com'])
  expect([code, stderr]).toEqual([0, expect.stringContaining('invited ada@example.com, who becomes the owner of acme')])
  expect(stdout).toMatch(linkForm)
  expect(await open(stdout.trim())).toEqual([['acme', 'owner']])
})

test('signup writes the link into its JSON, and nothing else to stdout', async () => {
  const { code, stdout } = await machine.skerry(['signup', 'Json', '--email', 'json@example.com', '--json'])
  const { invitation } = JSON.parse(stdout)
  expect([code, invitation]).toEqual([
    0,
    {
      email: 'json@example.com',
      role: 'admin',
      expiresAt: expect.stringMatching(/Z$/),
      link: expect.stringMatching(linkForm),
    },
  ])
})

describe('on a desktop', () => {
  /** A browser that writes where the address leads that it is given. */
  const withBrowser = async (command: string) => {
    await machine.write('browser', `#!/bin/sh\ncurl -sw '%{redirect_url}' "$1" > ${machine.home}/opened\n`)
    await chmod(`${machine.project}/browser`, 0o755)
    // Without the installed programs of the machine, which come before BROWSER.
    return `env DISPLAY=:0 XDG_DATA_DIRS=${machine.home} BROWSER=${machine.project}/browser ${command}`
  }
  const opened = () => readFile(`${machine.home}/opened`, 'utf8')

  test('signup on a terminal says that it opens the link, and opens it', async () => {
    const { code, stdout } = await machine.terminal(
      await withBrowser('skerry signup Desktop --email desktop@example.com'),
    )
    expect([code, stdout]).toEqual([0, expect.stringContaining('opening this link in your browser; it works once')])
    const link = await opened()
    expect(stdout).toContain(link)
    expect(await open(link)).toEqual([['desktop', 'owner']])
  })

  test.each([
    ['--no-browser is given', 'skerry signup Unopened --email unopened@example.com --no-browser'],
    ['the command runs over SSH', 'SSH_CONNECTION=x skerry signup Remote --email remote@example.com'],
    ['a script reads the link', 'sh -c "skerry signup Piped --email piped@example.com | cat"'],
  ])('signup asks the person to open the link, and opens none, if %s', async (_, command) => {
    const { code, stdout } = await machine.terminal(await withBrowser(command))
    expect([code, stdout]).toEqual([0, expect.stringContaining('open this link in a browser; it works once')])
    expect(stdout).toMatch(/\/sign-in\/link#/)
    await expect(opened()).rejects.toThrow('ENOENT')
  })
})

test('without an address and a terminal, signup invites nobody, and says how to do it later', async () => {
  const { code, stdout, stderr } = await machine.skerry(['signup', 'Later'])
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toContain('invite yourself: `skerry invite create <your e-mail> --role admin`')
  const invited = await machine.skerry(['invite', 'create', 'later@example.com', '--role', 'admin'])
  const [link] = /http\S+\/sign-in\/link#[\w-]{43}/.exec(invited.stderr) ?? []
  expect(await open(link as string)).toEqual([['later', 'owner']])
})

test('where the outbox is not readable, signup says where the link is', async () => {
  const elsewhere = `${machine.home}/elsewhere`
  const { code, stdout, stderr } = await machine.shell(
    `mkdir ${elsewhere} && cd ${elsewhere} && skerry signup Elsewhere --email elsewhere@example.com`,
  )
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toContain('a link for elsewhere@example.com is in the folder outbox of the server’s data directory')
  const [, again] = /`(.+ skerry invite resend .+)`/.exec(stderr) as unknown as [string, string]
  const told = await machine.shell(again.replace('<data directory>', server.settings.SKERRY_DATA_DIR as string))
  expect([told.code, told.stderr]).toEqual([0, expect.stringMatching(/its link works once.*: http/)])
})

test.each(['ada', 'ada@example', 'a b@example.com', `${'a'.repeat(250)}@example.com`, ''])(
  'an address like %j is refused before anything is made',
  async (email) => {
    const { code, stderr } = await machine.skerry(['signup', 'Refused', '--email', email])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--email is no e-mail address; nothing was changed')])
    expect((await machine.skerry(['whoami'])).code).toBe(3)
  },
)

test('on a terminal, signup proposes the address of Git, and an empty one invites nobody', async () => {
  await writeFile(`${machine.home}/.gitconfig`, '[user]\n\temail = grace@example.com\n')
  const { code, stdout } = await machine.terminal('skerry signup Terminal', [['Your e-mail address', '\r']])
  expect([code, stdout]).toEqual([0, expect.stringContaining('invited grace@example.com')])
  const erased = '\u007f'.repeat('grace@example.com'.length)
  const later = await machine.terminal('skerry signup Empty', [['Your e-mail address', `${erased}\r`]])
  expect([later.code, later.stdout]).toEqual([0, expect.stringContaining('invite yourself')])
})

test('on a terminal, init offers the three environments and the .env, and a second run asks and changes nothing', async () => {
  await machine.write('.env', 'DATABASE_URL=planted-value\nAPI_KEY=planted-key\n')
  await machine.shell('git init -q . && skerry signup Offered')
  const { code, stdout } = await machine.terminal('skerry init', [
    ['create application shop and environments development, staging and production', '\r'],
    ['import DATABASE_URL, API_KEY from .env into shop/development?', '\r'],
  ])
  expect([code, stdout]).toEqual([0, expect.stringContaining('wrote 2 of 2 to shop/development')])
  expect(stdout).toContain('Git does not ignore .env')
  expect(stdout).not.toContain('planted')
  await machine.write('.gitignore', '.env\n')
  const again = await machine.terminal('skerry init')
  expect(again.code).toBe(0)
  expect(again.stdout).not.toMatch(/created|import DATABASE_URL|Git does not ignore/)
  const { stdout: list } = await machine.skerry(['env', 'list', '--app', 'shop', '--json'])
  expect(JSON.parse(list).environments.map(({ slug }: { slug: string }) => slug)).toEqual([
    'development',
    'staging',
    'production',
  ])
})

test('init refuses a file that cannot be read before it makes anything', async () => {
  await machine.write('.env', 'not a line\n')
  await machine.skerry(['signup', 'Unreadable'])
  for (const file of ['.env', 'missing.env'])
    expect((await machine.skerry(['init', '--import', file])).code).not.toBe(0)
  const { stdout } = await machine.skerry(['app', 'list', '--json'])
  expect(JSON.parse(stdout).apps).toEqual([])
})

test('a server that is closed for signing up refuses it, and the hint names no credential', async () => {
  const closed = await openServer({ SKERRY_SIGNUP: 'closed' })
  const { code, stderr } = await machine.skerry(['signup', 'Late', '--url', closed.url])
  await closed.close()
  expect(code).toBe(3)
  expect(stderr).toContain('the set-up link in the log of a new server makes the first organization')
  expect(stderr).not.toContain('credential')
})

test('an invitation says where its mail is if the server sends none', async () => {
  await machine.shell('skerry signup Quiet')
  const near = await machine.shell('skerry invite create near@example.com --json')
  expect(near.stderr).toContain('the mail is in the outbox of this machine')
  expect(JSON.parse(near.stdout).mail).toBe('outbox')
  const far = await machine.shell('mkdir ~/far && cd ~/far && skerry invite create far@example.com')
  expect(far.stderr).toContain('this server sends no mail: the invitation is a file in the folder `outbox`')
})
