import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../server/test/until.ts'
import { type Machine, signedUp } from './machine.ts'
import { openProxy, type Refuse } from './proxy.ts'
import { openServer, type Server } from './server.ts'

// Ctrl-C in the middle of a command. `run.test.ts` and `secrets-edit.test.ts` have it for programs and editors.

let server: Server
let proxy: Awaited<ReturnType<typeof openProxy>>
let machine: Machine
/** What the proxy does with a request, and the requests that it has held or stalled. */
let refuse: Refuse = () => undefined
let held: string[] = []

beforeAll(async () => {
  server = await openServer()
  proxy = await openProxy(server.url, (method, path) => {
    const answer = refuse(method, path)
    if (answer !== undefined) held.push(`${method} ${path}`)
    return answer
  })
  machine = await signedUp(proxy.url, 'Interrupted Org')
})
afterAll(async () => {
  await machine.remove()
  await proxy.close()
  await server.close()
})
beforeEach(() => {
  held = []
  return () => {
    refuse = () => undefined
  }
})

/** Starts a command, and presses Ctrl-C when it waits for an answer, and `isReady` is true. */
async function interrupt(args: string[], options: { input?: string; isReady?: () => Promise<boolean> }) {
  const { child, ended } = machine.start(args, { input: options.input ?? '' })
  await until('the command waits', async () => held.length > 0 && ((await options.isReady?.()) ?? true))
  child.kill('SIGINT')
  return ended
}

const names = async () => JSON.parse((await machine.skerry(['secrets', 'ls', '--json'])).stdout).secrets.map(nameOf)
const nameOf = ({ name }: { name: string }) => name
const files = () => readdir(machine.project)

describe('Ctrl-C in the middle of', () => {
  it('an import ends it by the signal, keeps what was written, and the import can be repeated', async () => {
    refuse = (method, path) => (method === 'PUT' && path.endsWith('/B') ? 'hold' : undefined)
    const input = 'A=1\nB=2\nC=3\n'
    expect(await interrupt(['secrets', 'import', '-'], { input })).toMatchObject({ code: null, signal: 'SIGINT' })
    refuse = () => undefined
    expect(await names()).toEqual(['A'])
    const again = await machine.skerry(['secrets', 'import', '-'], { input })
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('2 new, 0 changed, 1 unchanged')])
  })

  it('a write changes nothing that was not answered', async () => {
    refuse = (method, path) => (method === 'PUT' && path.endsWith('/UNWRITTEN') ? 'hold' : undefined)
    const ended = await interrupt(['secrets', 'set', 'UNWRITTEN'], { input: 'v' })
    expect(ended).toMatchObject({ code: null, signal: 'SIGINT', stdout: '' })
    refuse = () => undefined
    expect(await names()).not.toContain('UNWRITTEN')
  })

  it('an export of secrets leaves no file', async () => {
    const before = await files()
    refuse = (_, path) => (path.startsWith('/v1/resolve') ? 'hold' : undefined)
    const ended = await interrupt(['secrets', 'export', '--out', 'exported.env'], {})
    expect(ended).toMatchObject({ code: null, signal: 'SIGINT', stdout: '' })
    expect(await files()).toEqual(before)
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'an export of the organization by %s leaves no file, and none beside it',
    async (signal) => {
      // A server runs one export of an organization at a time, and learns only later that the one before was interrupted.
      const own = await signedUp(proxy.url, `Export ${signal}`)
      onTestFinished(own.remove)
      const before = await readdir(own.project)
      refuse = (method, path) => (method === 'POST' && path.endsWith('/export') ? 'stall' : undefined)
      const { child, ended } = own.start(['org', 'export', 'archive.json'])
      const isPart = (name: string) => name.startsWith('archive.json.')
      await until('a part is written', async () => (await readdir(own.project)).some(isPart))
      child.kill(signal)
      expect(await ended).toMatchObject({ code: null, signal })
      expect(await readdir(own.project)).toEqual(before)
    },
  )
})
