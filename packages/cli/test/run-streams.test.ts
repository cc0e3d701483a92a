import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// The program inherits its streams as the caller made them. A pipe is shared, so a flag that is set on it is set for
// every process.

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Streams Org', { cold: true })
  await machine.write('unsure', 'exec "$@"\n')
  await machine.write('flags-program', flagsProgram)
  await machine.shell('chmod +x unsure flags-program')
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

/** All ways to start a program: with exec, as a watched child, and as a child whose start may fail. */
const ways = [
  ['', 'skerry run --'],
  [' under --watch', 'skerry run --watch --'],
  [' as a child', 'skerry run -- ./unsure'],
] as const

const lines = 40_000
/** More lines than fit into a socket and into the read buffer of its peer. */
const socketLines = 200_000
const slowReader = '(sleep 0.7; wc -l)'
const writer = (descriptor: number, count = lines) => `sh -c "seq ${count} >&${descriptor}"`
/** Writes the flags of its own three streams into a file. */
const flagsProgram = `#!/bin/sh
(grep -h flags /proc/$$/fdinfo/0 /proc/$$/fdinfo/1 /proc/$$/fdinfo/2) >flags
exit 0
`
const flags = './flags-program'

describe.each(ways)('a program started by skerry run%s:', (_, run) => {
  it('a slow reader of stdout gets every line', async () => {
    expect(await machine.shell(`${run} ${writer(1)} | ${slowReader}`)).toMatchObject({
      stdout: `${lines}\n`,
      stderr: '',
    })
  })

  it('a slow reader of stderr gets every line', async () => {
    expect((await machine.shell(`${run} ${writer(2)} 2>&1 >/dev/null | ${slowReader}`)).stdout).toBe(`${lines}\n`)
  })

  it('the program waits for a slow writer to stdin', async () => {
    const script = `(echo a; sleep 0.7; echo b) | ${run} cat`
    expect(await machine.shell(script)).toMatchObject({ code: 0, stdout: 'a\nb\n', stderr: '' })
  })

  it('other processes find the shared pipes unchanged', async () => {
    const after = `(${run} true; ${flags})`
    expect((await machine.shell(`true | ${after} 2>&1 | cat; cat flags`)).stdout).toBe(
      await same(`true | ${flags} 2>&1 | cat; cat flags`),
    )
  })

  it.each([
    ['pipes', (command: string) => `true | ${command} 2>&1 | cat; cat flags`],
    ['files', (command: string) => `${command} <skerry.json >out 2>err; cat flags`],
    ['files that are appended to', (command: string) => `${command} <>skerry.json >>out 2>>err; cat flags`],
    ['/dev/null', (command: string) => `${command} </dev/null >/dev/null 2>&1; cat flags`],
    ['a FIFO', (command: string) => `rm -f fifo; mkfifo fifo; (exec 4<>fifo; ${command} <&4 >&4 2>&4); cat flags`],
  ])('the flags of %s do not change', async (_name, script) => {
    expect((await machine.shell(script(`${run} ${flags}`))).stdout).toBe(await same(script(flags)))
  })

  it('the flags of sockets do not change, and a slow peer gets everything', async () => {
    expect(await overSocket(`${run} ${flags}; cat flags`)).toBe(await overSocket(`${flags}; cat flags`))
    const read = await overSocket(`${run} ${writer(1, socketLines)}`, 500)
    expect(read.match(/\n/g)).toHaveLength(socketLines)
    expect(read.endsWith(`\n${socketLines}\n`)).toBe(true)
  })

  it('the flags of a terminal do not change', async () => {
    const onTerminal = async (command: string) => {
      await machine.terminal(command)
      return machine.read('flags')
    }
    expect(await onTerminal(`${run} ${flags}`)).toBe(await onTerminal(flags))
  })
})

it('skerry run leaves a non-blocking pipe non-blocking', async () => {
  const nonBlocking = `perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, fcntl(STDOUT, F_GETFL, 0) | O_NONBLOCK); exec @ARGV'`
  const script = (command: string) => `${nonBlocking} ${command} </dev/null 2>/dev/null | cat; cat flags`
  const expected = await same(script(flags))
  expect(expected.split('\n')[1]).toMatch(/4001$/)
  expect((await machine.shell(script(`skerry run -- ${flags}`))).stdout).toBe(expected)
})

it('a question of skerry does not change the flags of the terminal for the next program', async () => {
  await machine.shell('skerry secrets set A < skerry.json')
  const script = `skerry secrets rm A && skerry run -- ${flags} && cat flags`
  const { stdout, code } = await machine.terminal(`bash -c "${script}"`, [['deletes A', 'y']])
  expect(code).toBe(0)
  expect(stdout.match(/flags:.*/g)).toHaveLength(3)
  expect(stdout).not.toMatch(/flags:\s+0\d*4\d{3}\b/)
})

/** The output of the shell itself, without `skerry`. */
async function same(script: string): Promise<string> {
  const { code, stdout } = await machine.shell(script)
  expect(code).toBe(0)
  expect(stdout.match(/flags:/g)).toHaveLength(3)
  return stdout
}

/**
 * Runs a script whose three streams are Unix sockets, which Node makes for its children. The output is read after
 * `waitMs`.
 */
function overSocket(script: string, waitMs = 0): Promise<string> {
  const child = spawn('bash', ['-c', script], { cwd: machine.project, env: machine.env, stdio: 'pipe' })
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    child.on('error', reject)
    child.on('close', () => resolve(Buffer.concat(chunks).toString()))
    child.stderr.resume()
    // Listen from the beginning, because Node discards unread output when a child ends.
    child.stdout.on('data', (chunk) => chunks.push(chunk)).pause()
    setTimeout(() => child.stdout.resume(), waitMs)
  })
}
