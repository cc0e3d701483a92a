import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// What the time of `skerry run` goes into, beside the server: the bench measures it, and this holds what it depends on.

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

it('`skerry run` loads one library, and of its own no more than it needs', async () => {
  const [hook, list] = [join(machine.home, 'loaded.mjs'), join(machine.home, 'loaded.txt')]
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const load = (url, context, next) => (appendFileSync('${list}', url + '\\n'), next(url, context))
    registerHooks({ load })`,
  )
  expect((await machine.shell('skerry run -- true')).code).toBe(0)
  const { code } = await machine.shell(`NODE_OPTIONS=--import=${hook} skerry run -- true`)
  expect(code).toBe(0)
  const loaded = readFileSync(list, 'utf8').trim().split('\n')
  const libraries = loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(libraries)]).toEqual(['commander'])
  const own = loaded.filter((url) => url.startsWith('file:') && !url.includes('/node_modules/'))
  // Each is found and linked anew by every run: another one has to be worth its third of a millisecond.
  expect(own.length).toBeLessThanOrEqual(85)
})

it('its compiled code is kept for the next run', async () => {
  expect((await machine.shell('unset NODE_COMPILE_CACHE; skerry run -- true')).code).toBe(0)
  expect(readdirSync(join(machine.home, '.cache/skerry/compiled'), { recursive: true }).length).toBeGreaterThan(50)
})
