import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// The start time of `skerry run`, apart from the server, depends on the facts that these tests check. The bench
// measures the time itself.

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Loading Org', { cold: true })
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

const packages = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a shell command line, and returns the files that Node has loaded for it. */
async function filesOf(commandLine: string): Promise<string[]> {
  const [hook, list] = [join(machine.home, 'loaded.mjs'), join(machine.home, 'loaded.txt')]
  writeFileSync(list, '')
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const load = (url, context, next) => (appendFileSync('${list}', url + '\\n'), next(url, context))
    registerHooks({ load })`,
  )
  const { code, stderr } = await machine.shell(`NODE_OPTIONS=--import=${hook} ${commandLine}`)
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const loaded = readFileSync(list, 'utf8').trim().split('\n')
  return loaded
    .filter((url) => url.startsWith('file:') && !url.endsWith('/loaded.mjs'))
    .map((url) => fileURLToPath(url))
}

describe('the built command', () => {
  it('loads few files and no library for skerry run', async () => {
    expect((await machine.shell('skerry run -- true')).code).toBe(0)
    const files = await filesOf('skerry run -- true')
    expect(files.filter((file) => file.endsWith('.ts') || file.includes('/node_modules/'))).toEqual([])
    // Every run must find and link each of them again.
    expect(files.length).toBeLessThanOrEqual(10)
  })

  it('caches its compiled code for the next run', async () => {
    expect((await machine.shell('unset NODE_COMPILE_CACHE; skerry run -- true')).code).toBe(0)
    const compiled = readdirSync(join(machine.home, '.cache/skerry/compiled'), { recursive: true })
    expect(compiled.length).toBeGreaterThan(1)
  })
})

describe('the command from its sources', () => {
  let copy: string
  const load = () => filesOf(`node ${join(copy, 'packages/cli/src/main.js')} run -- true`)
  const inFolder = (files: string[], name: string) => files.filter((file) => file.includes(`/cli/${name}/`)).length

  /** Another checkout, with the same build. */
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'skerry-checkout-'))
    mkdirSync(join(copy, 'packages'))
    symlinkSync(join(packages, '../node_modules'), join(copy, 'node_modules'))
    for (const name of readdirSync(packages))
      if (name === 'cli') execFileSync('cp', ['-a', join(packages, name), join(copy, 'packages')])
      else symlinkSync(join(packages, name), join(copy, 'packages', name))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  it('runs after one of the sources was changed', async () => {
    const built = await load()
    expect(inFolder(built, 'dist')).toBe(1)
    utimesSync(join(copy, 'packages/cli/src/duration.ts'), new Date(), new Date())
    const files = await load()
    expect(inFolder(files, 'dist')).toBe(0)
    expect(files).toContain(join(copy, 'packages/cli/src/program.ts'))
  })

  it('runs without a build, with one library and only the modules that it needs', async () => {
    rmSync(join(copy, 'packages/cli/dist'), { recursive: true })
    const files = await load()
    const libraries = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
    expect([...new Set(libraries)]).toEqual(['commander'])
    expect(files.length - files.filter((file) => file.includes('/node_modules/')).length).toBeLessThanOrEqual(94)
  })
})
