import type { Command, Option } from 'commander'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProgram, everyCommand } from '../src/program.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// Gives every command wrong names, paths and places, against a real server. Each is refused in one sentence, without a
// trace of the code, and changes nothing.

let server: Server
let machine: Machine
let before: string[]
let commands: { path: string[]; command: Command }[]
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Wrong arguments')
  await machine.shell('printf secret | skerry secrets set DATABASE_URL; skerry token create ci')
  before = await entries()
  commands = leavesOf(await buildProgram([everyCommand]), [])
})
/** The ids of all entries of the audit log, which has one for each change. */
async function entries(): Promise<string[]> {
  const { stdout } = await machine.skerry(['audit', 'ls', '--limit', '0', '--json'])
  return stdout.split('\n')
}

afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

const wrong: Readonly<Record<string, string>> = {
  unknown: 'nothing-like-this',
  empty: '',
  long: 'x'.repeat(5000),
  control: 'a\u0007b\u001b[31m',
  'with a path': '../../nothing/like/this',
}

/** Commands that give a name to something: a name that nothing has yet is right there. */
const naming = /(^| )(create|signup|init|org rename)$/
const unused = ['unknown', 'with a path']

/** Commands that need no organization and no credential, or that report what is wrong with them and go on. */
const reporting = /^(doctor|profile|sync providers)/

/** Commands that wait for a person or a program. */
const endless = new Set(['login', 'mcp', 'provisioner', 'proxy run', 'run', 'serve', 'shell'])

const leavesOf = (command: Command, above: string[]): { path: string[]; command: Command }[] =>
  command.commands.flatMap((one) => {
    const path = [...above, one.name()]
    return one.commands.length > 0 ? leavesOf(one, path) : [{ path, command: one }]
  })

const sure = ({ options }: Command) => (options.some(({ long }) => long === '--yes') ? ['--yes'] : [])

const mandatory = (command: Command, but?: Option) =>
  command.options
    .filter((one) => one.mandatory && one !== but)
    .flatMap(({ long, argChoices }) => [long!, argChoices?.[0] ?? 'name'])

const about = new Set(['--org', '--profile'])

interface Tried {
  line: string
  code: number | null
  stdout: string
  stderr: string
}

async function tryLine(args: string[]): Promise<Tried> {
  const ended = await machine.skerry(args, { input: 'x' })
  return {
    line: args.map((one) => (one.length > 40 ? `${one.slice(0, 20)}…` : JSON.stringify(one))).join(' '),
    ...ended,
  }
}

function problemOf({ code, stderr }: Tried): string | undefined {
  if (code === null || code < 1 || code > 6) return `ended with ${code}`
  if (!/^skerry: /m.test(stderr)) return 'says no error'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would act on them.
  if (/[\u0000-\u0008\u000b-\u001f]/.test(stderr)) return 'prints control characters'
  if (/\bundefined\b|\[object |^ {4}at |internal error/m.test(stderr)) return 'shows a trace of the code'
  if (!/; |`| must |cannot read |cannot write /.test(stderr)) return 'does not say what to do'
  if (stderr.length > 1000) return `is ${stderr.length} characters long`
}

it.each(Object.keys(wrong))('every command refuses an argument that is %s', async (kind) => {
  const found: string[] = []
  for (const { path, command } of commands) {
    const count = command.registeredArguments.length
    const name = path.join(' ')
    if (count === 0 || endless.has(name) || (unused.includes(kind) && naming.test(name))) continue
    const given = command.registeredArguments.filter((one) => one.required).length || 1
    const tried = await tryLine([...path, ...Array(given).fill(wrong[kind]), ...mandatory(command), ...sure(command)])
    const problem = problemOf(tried)
    if (problem) found.push(`${tried.line}: ${problem}: ${tried.stderr.slice(0, 300)}`)
  }
  expect(found).toEqual([])
})

it.each([
  '--app',
  '--env',
  '--branch',
  '--group',
  '--org',
  '--file',
  '--since',
  '--profile',
  '--member',
  '--team',
  '--token',
  '--to',
  '--from',
])('every command refuses a wrong %s', async (long) => {
  const found: string[] = []
  for (const { path, command } of commands) {
    const option = command.options.find((one) => one.long === long)
    const name = path.join(' ')
    if (!option?.required || endless.has(name) || (about.has(long) && reporting.test(name))) continue
    for (const [kind, value] of Object.entries(wrong)) {
      if (unused.includes(kind) && naming.test(name)) continue
      const args = command.registeredArguments
        .filter((one) => one.required)
        .map((one) => one.argChoices?.[0] ?? (/NAME/.test(one.name()) ? 'NAME' : 'name'))
      const tried = await tryLine([
        ...path,
        ...args,
        ...mandatory(command, option),
        `${long}=${value}`,
        ...sure(command),
      ])
      const problem = problemOf(tried)
      if (problem) found.push(`${kind}: ${tried.line}: ${problem}: ${tried.stderr.slice(0, 300)}`)
    }
  }
  expect(found).toEqual([])
})

it('none of these commands changed anything', async () => {
  expect(before.length).toBeGreaterThan(5)
  expect(await entries()).toEqual(before)
})
