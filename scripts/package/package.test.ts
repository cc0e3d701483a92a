import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../../packages/cli/package.json' with { type: 'json' }
import { type ServerProcess, startProcess } from '../../packages/server/test/crash/server-process.ts'
import { missingForExecutable } from './executable.ts'
import { nameAt, readLockfile } from './lockfile.ts'
import { openRegistry } from './registry.ts'
import { releases } from './releases.ts'

// What a release publishes, as those who install it meet it: in folders outside of the checkout, on a machine without
// Node. npm gets packages from a registry that has what the lockfile has.

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const { version } = manifest

let scratch: string
let server: ServerProcess | undefined
const at = (...names: string[]) => join(scratch, ...names)
const tarball = (name: string) => at('release', `skerry-${name}-${version}.tgz`)

/** Packages with other surroundings each time, which must not reach the files. */
const pack = (folder: string, umask: string, env: object) =>
  run('/bin/sh', ['-c', `umask ${umask} && exec "$0" "$@"`, process.execPath, 'scripts/package.ts', at(folder)], {
    cwd: root,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1790000000', ...env },
  })

async function install(args: string[]): Promise<void> {
  const registry = await openRegistry(root, readLockfile(root))
  const own = ['--registry', registry.url, '--cache', at('cache'), '--ignore-scripts', '--no-audit', '--no-fund']
  // npm would ask for optional peers of libraries, which nobody installs and no lockfile has.
  await run('npm', ['install', '--legacy-peer-deps', ...own, ...args], { cwd: scratch }).finally(registry.close)
}

/** Runs the installed command as a person whose machine has no Node. */
const skerry = async (args: string[], input = '') => {
  const env = { PATH: at('bin'), HOME: at('home'), LANG: 'C.UTF-8', ...(server && { SKERRY_URL: server.url }) }
  const running = run(at('global/bin/skerry'), args, { cwd: at('project'), env })
  running.child.stdin?.end(input)
  return (await running).stdout
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'skerry-package-'))
  await Promise.all(['bin', 'home', 'project', 'local'].map((name) => mkdir(at(name))))
  // The only program that starting a command needs.
  await symlink('/usr/bin/readlink', at('bin', 'readlink'))
  await pack('release', '022', { TZ: 'America/New_York', LANG: 'en_US.UTF-8' })
  await install(['--global', '--prefix', at('global'), tarball('cli')])
  await install(['--prefix', at('local'), ...['server', 'sdk', 'executor'].map(tarball)])
})
afterAll(async () => {
  await server?.stop()
  await rm(scratch, { recursive: true, force: true })
})

test('the installed command runs on the Node that npm installed with it', async () => {
  expect(await skerry(['--version'])).toBe(`${version}\n`)
})

test('npm installs the man pages, and the completions are in the package', async () => {
  const env = { PATH: process.env.PATH, MANPATH: at('global/share/man'), LC_ALL: 'C.UTF-8' }
  expect((await run('man', ['--where', 'skerry-secrets'], { env })).stdout).toContain('/man1/skerry-secrets.1')
  const completion = await readFile(
    at('global/lib/node_modules/@skerry/cli/share/bash-completion/completions/skerry'),
    'utf8',
  )
  expect(completion).toBe(await skerry(['completion', 'bash']))
})

test('the installed server gives an installed command its first secret, and serves its pages and documents', async () => {
  const program = at('local/node_modules/.bin/skerry-server')
  const settings = { PATH: at('bin'), SKERRY_DATA_DIR: at('data') }
  server = await startProcess(settings, [program, 'start'])
  await skerry(['signup', 'Acme'])
  await skerry(['init', '--env', 'development'])
  await skerry(['secrets', 'set', 'GREETING'], 'hello')
  expect(await skerry(['run', '--', '/bin/sh', '-c', 'printf %s "$GREETING"'])).toBe('hello')
  expect(await skerry(['dashboard', 'verify', server.url])).toMatch(/^All \d{3,} files are what this installation has/)
  const docs = await fetch(`${server.url}/docs`)
  expect([docs.status, await docs.text()]).toEqual([200, expect.stringContaining('Key grants')])
})

test('the installed server has the commands of operators', async () => {
  const operate = async (...args: string[]) =>
    (await run(at('local/node_modules/.bin/skerry-server'), args, { env: { PATH: at('bin') } })).stdout
  expect(await operate('--help')).toContain('Usage: skerry-server <command> [options]')
  expect(await operate('start', '--help')).toContain('Usage: skerry-server start')
  expect(await operate('--version')).toBe(`${version}\n`)
})

test('each module of the SDK and of the executor loads, and its types compile in a program that installed it', async () => {
  const names = ['sdk', 'executor'].map((name) => at('local/node_modules/@skerry', name, 'package.json'))
  const manifests = await Promise.all(names.map(async (path) => JSON.parse(await readFile(path, 'utf8'))))
  const modules = manifests.flatMap(({ name, exports }) => Object.keys(exports).map((path) => join(name, path)))
  expect(modules).toEqual(expect.arrayContaining(['@skerry/sdk', '@skerry/sdk/node/disk-cache', '@skerry/executor']))
  const imports = modules.map((name, index) => `import * as m${index} from '${name}'\n`)
  const counts = modules.map((_, index) => `Object.keys(m${index}).length`)
  const config = 'export const config: number = defineVaultConfig({ origin: 1 })'
  const program = `${imports.join('')}export const counts: number[] = [${counts.join(', ')}]\n`
  await writeFile(at('local/package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(at('local/program.ts'), program)
  await writeFile(at('local/wrong.ts'), `import { defineVaultConfig } from '@skerry/executor'\n${config}\n`)
  const loaded = await run(process.execPath, ['-e', "console.log((await import('./program.ts')).counts.join())"], {
    cwd: at('local'),
  })
  expect(
    loaded.stdout
      .trim()
      .split(',')
      .filter((count) => Number(count) > 0),
  ).toHaveLength(modules.length)
  expect(await compile('program.ts')).toBe('')
  // Types that are missing are `any`, and then everything compiles.
  expect(await compile('wrong.ts')).toContain("Type 'number' is not assignable to type 'string'")
})

/** The errors of the compiler for a file of the program that installed the packages. */
async function compile(file: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,dom,dom.iterable,esnext.disposable',
  ]
  const compiled = run(process.execPath, [compiler, ...options, ...types, file], { cwd: at('local') })
  return compiled.then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout,
  )
}

test('the SBOM names every package that npm installed, in its version', async () => {
  const { packages } = JSON.parse(await readFile(at('release/sbom.spdx.json'), 'utf8'))
  const named = new Set(packages.map((one: { name: string; versionInfo: string }) => `${one.name} ${one.versionInfo}`))
  const { packages: paths } = JSON.parse(await readFile(at('local/node_modules/.package-lock.json'), 'utf8'))
  const installed = Object.entries<{ version: string }>(paths).map(([path, one]) => `${nameAt(path)} ${one.version}`)
  expect(installed.filter((one) => !named.has(one))).toEqual([])
  expect(installed).toContain(`@skerry/server ${version}`)
})

test('checksums.txt has the hash of each file', async () => {
  const { stdout } = await run('sha256sum', ['--check', 'checksums.txt'], { cwd: at('release') })
  const packages = releases.map(({ name }) => `skerry-${name}-${version}.tgz`)
  const programs = missingForExecutable() ? [] : [`skerry-${version}-linux-x64.tar.gz`, `skerry_${version}_amd64.deb`]
  const files = [...packages, ...programs, 'sbom.spdx.json'].sort()
  expect(stdout).toBe(files.map((file) => `${file}: OK\n`).join(''))
})

test('a second run gives the same bytes, in another time zone and language, and with another umask', async () => {
  await pack('again', '077', { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'C.UTF-8' })
  const sums = (folder: string) => readFile(at(folder, 'checksums.txt'), 'utf8')
  expect(await sums('again')).toBe(await sums('release'))
})
