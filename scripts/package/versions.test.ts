import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decide, passphrase } from '../../packages/cli/test/people.ts'
import { type ServerProcess, startProcess } from '../../packages/server/test/crash/server-process.ts'
import { type AppPlatform, startAppPlatform } from '../../packages/server/test/services/app-platform.ts'
import { type Issuer, startIssuer } from '../../packages/server/test/services/issuer.ts'
import { earlier, missingEarlier, writeEarlier } from './earlier.ts'

// A client works with a server one release older or newer. People sign in, create, write, share and run.

const root = fileURLToPath(new URL('../..', import.meta.url))
const missing = missingEarlier(root)
if (missing !== undefined) console.error(`SKIPPED: clients and servers of two releases. ${missing}`)

let scratch: string
let issuer: Issuer
let platform: AppPlatform

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'skerry-versions-'))
  issuer = await startIssuer(() => new Date())
  platform = await startAppPlatform()
  if (missing === undefined) writeEarlier(root, join(scratch, 'earlier'))
})
afterAll(async () => {
  await platform.stop()
  await issuer.close()
  await rm(scratch, { recursive: true, force: true })
})

interface Person {
  email: string
  run: (script: string) => Promise<string>
}

/** A person on a machine of their own, with the command of these sources and keys. */
async function newPerson(name: string, sources: string, server: ServerProcess): Promise<Person> {
  const home = join(scratch, name)
  const email = `${name}@example.com`
  await Promise.all(['bin', 'shop'].map((folder) => mkdir(join(home, folder), { recursive: true })))
  await symlink(join(sources, 'packages/cli/src/main.js'), join(home, 'bin/skerry'))
  await writeFile(join(home, 'passphrase'), `${passphrase}\n`)
  const env = {
    HOME: home,
    PATH: `${join(home, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
    SKERRY_URL: server.url,
    SKERRY_KEYRING: 'off',
    SKERRY_PASSPHRASE_FILE: join(home, 'passphrase'),
  }
  const start = (script: string) => spawn('bash', ['-c', script], { cwd: join(home, 'shop'), env })
  const run = async (script: string) => {
    const child = start(script)
    child.stdin.end()
    const ended = new Promise((resolve) => child.once('close', resolve))
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    expect(code, `${script}: ${stderr}`).toBe(0)
    return stdout
  }
  const login = start('skerry login --json')
  let said = ''
  for await (const chunk of login.stderr) {
    said += chunk
    const [, code] = /code ([B-Z]{4}-[B-Z]{4})/.exec(said) ?? []
    if (code === undefined) continue
    said = ''
    await decide({ url: server.url, issuer }, email, code, 'approve')
  }
  await run('skerry whoami && skerry keys init')
  return { email, run }
}

const now = { name: 'this release', sources: () => root }
const then = { name: `the release before (${earlier})`, sources: () => join(scratch, 'earlier') }

describe.skipIf(missing !== undefined).each([
  { client: now, server: then },
  { client: then, server: now },
])('a command of $client.name, and a server of $server.name', ({ client, server: { sources } }) => {
  let server: ServerProcess
  let ada: Person
  let bob: Person
  const id = client === now ? 'older' : 'newer'

  beforeAll(async () => {
    const settings = { SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: issuer.audience, ...platform.settings }
    const main = join(sources(), 'packages/server/src/main.js')
    server = await startProcess({ ...settings, SKERRY_DATA_DIR: join(scratch, `data-${id}`) }, [process.execPath, main])
    ada = await newPerson(`ada-${id}`, client.sources(), server)
    bob = await newPerson(`bob-${id}`, client.sources(), server)
  })
  afterAll(() => server?.stop())

  test('a person makes an organization, writes a secret and runs a program with it', async () => {
    await ada.run('skerry org create Acme && skerry init --yes')
    await ada.run('printf hello | skerry secrets set GREETING')
    expect(await ada.run('skerry run -- sh -c \'printf %s "$GREETING"\'')).toBe('hello')
    await ada.run('skerry secrets rename GREETING WELCOME && skerry branch create pr-1')
    expect(await ada.run('skerry secrets get WELCOME --branch pr-1')).toBe('hello')
  })

  test('a second person joins, gets a key, and writes what the first one reads', async () => {
    await ada.run(`skerry invite create ${bob.email}`)
    await bob.run('skerry invite accept')
    await ada.run(`skerry grant ${bob.email} --reader ${bob.email}`)
    await bob.run('skerry setup --app shop --env development && printf hi | skerry secrets set ANSWER')
    expect(await ada.run('skerry secrets get ANSWER')).toBe('hi')
  })

  test('a token reads, and an environment gets a new key', async () => {
    const token = (await ada.run('skerry token create ci')).trim()
    expect(await ada.run(`SKERRY_TOKEN=${token} skerry secrets get ANSWER`)).toBe('hi')
    await ada.run('skerry env rekey shop/development --yes')
    await bob.run('skerry env trust shop/development --yes')
    expect(await bob.run('skerry secrets get ANSWER')).toBe('hi')
  })

  test('a sync destination gets the names of a plan', async () => {
    await ada.run(`echo ${platform.token} | skerry sync connect fly.io --name fly --yes`)
    await ada.run(`skerry sync bind fly --to appName=${id} --mode manual --yes`)
    expect(await ada.run('skerry sync plan fly')).toBe('+ ANSWER\n+ WELCOME\n')
    await ada.run('skerry sync run fly')
    expect([...platform.values(id).keys()].sort()).toEqual(['ANSWER', 'WELCOME'])
  })

  test('the audit log that a server of the other release wrote is verified', async () => {
    await ada.run('skerry audit verify')
  })
})
