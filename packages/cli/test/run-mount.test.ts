import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// Tests the pipe or the file in which a program gets the values.

let server: Server
let machine: Machine
const longValue = 'x'.repeat(300_000)

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Mount Org', { cold: true })
  await machine.skerry(['secrets', 'import', '-'], { input: `A=secret-a\nB=secret-b\nLONG=${longValue}\n` })
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

const run = (args: string[], env: Record<string, string> = {}) => machine.skerry(['run', ...args], { env })
const sh = (script: string) => ['--only', 'A', '--', 'sh', '-c', script]
const mounted = (name = 'values.json') => existsSync(join(machine.project, name))
const text = '{\n  "A": "secret-a"\n}\n'
/** Everything in the project folder, and nothing that a mount has left there. */
const files = () => readdirSync(machine.project)

describe('--mount', () => {
  it('gives the values through a pipe that only its owner can open, once, and not in the environment', async () => {
    const script = `stat -c '%a %F' values.json; cat values.json; echo "[$A]"; test -e values.json || echo gone; exit 4`
    expect(await run(['--mount', 'values.json', ...sh(script)])).toMatchObject({
      code: 4,
      stdout: `600 fifo\n${text}[]\ngone\n`,
      stderr: '',
    })
  })

  it('ends with a program that reads nothing, or only a part of a long text', async () => {
    expect(await run(['--mount', 'values.json', ...sh('exit 3')])).toMatchObject({ code: 3, stderr: '' })
    const part = ['--mount', 'values.json', '--', 'head', '-c', '5', 'values.json']
    expect(await run(part)).toMatchObject({ code: 0, stdout: '{\n  "', stderr: '' })
    const held = sh('exec 5<values.json; sleep 0; exit 2').slice(2)
    expect(await run(['--mount', 'values.json', ...held])).toMatchObject({ code: 2, stderr: '' })
    expect(mounted()).toBe(false)
  })

  it('gives a reader the whole of a text that is longer than a pipe', async () => {
    const { stdout } = await run(['--mount', 'values.json', '--', 'cat', 'values.json'])
    expect(JSON.parse(stdout)).toEqual({ A: 'secret-a', B: 'secret-b', LONG: longValue })
  })

  it('with --mount-max-reads gives each reader the whole text, also one that comes while another reads', async () => {
    const twice = 'cat values.json; cat values.json; test -e values.json || echo gone'
    expect((await run(['--mount', 'values.json', '--mount-max-reads', '2', ...sh(twice)])).stdout).toBe(
      `${text}${text}gone\n`,
    )
    const script = 'for n in 1 2 3 4 5; do cat values.json; done; test -p values.json && echo still'
    const before = files()
    expect((await run(['--mount', 'values.json', '--mount-max-reads', '0', ...sh(script)])).stdout).toBe(
      `${text.repeat(5)}still\n`,
    )
    const together = 'exec 5<values.json; cat values.json | wc -c; cat <&5 | wc -c'
    const all = ['--mount', 'values.json', '--mount-max-reads', '0', '--', 'sh', '-c', together]
    const [first, second] = (await run(all)).stdout.trim().split('\n')
    expect(first).toBe(second)
    expect(Number(first)).toBeGreaterThan(longValue.length)
    expect(files()).toEqual(before)
  })

  it('does not remove the file that the program writes at the path after it was read', async () => {
    await run(['--mount', 'own.json', ...sh('cat own.json >copy; echo mine >own.json')])
    expect(await machine.read('own.json')).toBe('mine\n')
  })

  it('gives nothing to somebody who replaces the pipe, and says so', async () => {
    const script = 'mkfifo other; mv other values.json; cat values.json'
    const { stdout, stderr } = await run(['--mount', 'values.json', ...sh(script)])
    expect(stdout).toBe('')
    expect(stderr).toContain('warning: values.json was replaced, so nobody gets the values through it')
    await machine.shell('rm -f values.json')
    expect(await run(['--mount', 'values.json', ...sh('rm values.json; exit 7')])).toMatchObject({
      code: 7,
      stderr: '',
    })
  })

  it('leaves nothing behind when skerry is killed, and ends a reader that waits', async () => {
    const before = files()
    const script = 'echo $$ >pid; echo ready; while test -p values.json; do sleep 0.02; done; echo over; rm pid'
    const flags = ['--mount', 'values.json', '--mount-max-reads', '3', '--', 'sh', '-c', script]
    const started = machine.start(['run', ...flags])
    await started.says('ready')
    expect(mounted()).toBe(true)
    started.child.kill('SIGKILL')
    await started.says('over')
    await started.ended
    await expect.poll(files).toEqual(before)
  })

  it('is removed when a signal ends the program', async () => {
    const started = machine.start(['run', '--mount', 'values.json', '--', 'sh', '-c', 'echo ready; exec sleep 600'])
    await started.says('ready')
    started.child.kill('SIGINT')
    expect(await started.ended).toMatchObject({ signal: 'SIGINT' })
    expect(mounted()).toBe(false)
  })
})

describe('--mount-file', () => {
  it('gives the values in a file that only its owner can read, as often as the program likes', async () => {
    const script = `stat -c '%a %F' values.json; cat values.json values.json; echo "[$A]"; exit 4`
    const { code, stdout } = await run(['--mount-file', 'values.json', ...sh(script)])
    expect([code, stdout]).toEqual([4, `600 regular file\n${text}${text}[]\n`])
    expect(mounted()).toBe(false)
  })

  it('leaves no file behind when skerry is killed', async () => {
    const script = 'echo $$ > pid; echo ready; exec sleep 600'
    const started = machine.start(['run', '--mount-file', 'values.json', '--', 'sh', '-c', script])
    await started.says('ready')
    expect(mounted()).toBe(true)
    started.child.kill('SIGKILL')
    await expect.poll(() => mounted()).toBe(false)
    process.kill(Number(await machine.read('pid')))
    await started.ended
  })
})

describe.each(['--mount', '--mount-file'])('%s', (option) => {
  it('does not replace a file, a link or a pipe that exists', async () => {
    await machine.write('taken.json', 'mine')
    await machine.shell('ln -sf nowhere link.json; mkfifo pipe.json')
    for (const path of ['taken.json', 'link.json', 'pipe.json']) {
      const { code, stderr } = await run([option, path, '--', 'true'])
      expect([code, stderr]).toEqual([1, `skerry: cannot mount ${path}: it exists; remove it, or name another path\n`])
    }
    expect(await machine.read('taken.json')).toBe('mine')
    expect((await machine.shell('test -p pipe.json && readlink link.json; rm pipe.json')).stdout).toBe('nowhere\n')
  })

  it('says what is wrong with a path', async () => {
    const cases = {
      'none/x.json': 'cannot write none/x.json: there is no such file or folder',
      'skerry.json/x.json': 'cannot write skerry.json/x.json: a part of the path is not a folder',
    }
    for (const [path, message] of Object.entries(cases))
      expect(await run([option, path, '--', 'true'])).toMatchObject({ code: 1, stderr: `skerry: ${message}\n` })
  })
})

it('a pipe names the way out where the system cannot make pipes', async () => {
  const withoutTool = await machine.shell(
    'mkdir -p tools; ln -sf "$(command -v node)" tools/node; at=$(command -v skerry); PATH=$PWD/tools $at run --mount a.json -- tools/node -v',
  )
  expect(withoutTool).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'skerry: cannot mount a.json: mkfifo cannot be executed; use --mount-file\n',
  })
  const unable = await machine.shell(
    `printf '#!/bin/sh\necho "mkfifo: cannot create fifo $3: Operation not permitted" >&2; exit 1\n' >tools/mkfifo; chmod +x tools/mkfifo
     PATH=$PWD/tools:$PATH skerry run --mount a.json -- true`,
  )
  expect(unable.stderr).toBe(
    'skerry: cannot mount a.json: its folder cannot hold a named pipe (Operation not permitted); use --mount-file\n',
  )
})

it.each([
  ['--mount a.json --mount-file b.json', '--mount and --mount-file cannot be used together'],
  ['--mount-max-reads 2', '--mount-max-reads goes with --mount'],
  ['--mount-file a --mount-max-reads 2', '--mount-max-reads goes with --mount'],
  ['--mount a --mount-max-reads many', '--mount-max-reads many is not a whole number'],
  ['--mount a --mount-max-reads -1', '--mount-max-reads -1 is not a whole number'],
  ['--mount a --watch', '--watch and a mount cannot be used together'],
  ['--format json', '--format goes with --mount or --mount-file'],
  [`--mount ''`, '--mount takes a path'],
])('run %s is refused', async (flags, message) => {
  const { code, stdout, stderr } = await machine.shell(`skerry run ${flags} -- echo started`)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
})
