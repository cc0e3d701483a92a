import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { locate } from '../src/arguments.ts'
import { otherSpellings, verbs } from '../src/grammar.ts'
import { documents } from '../src/help/documents.ts'
import { exampleCommands, examplesOf } from '../src/help/examples.ts'
import { tasksFor } from '../src/help/find-task.ts'
import { tasks } from '../src/help/tasks.ts'
import { buildProgram, everyCommand } from '../src/program.ts'

const root = join(import.meta.dirname, '../../..')

interface Row {
  path: string
  command: Command
}

let program: Command
let all: Row[]
/** Commands that do something. `grant` and `org export` also hold others. */
let runnable: Row[]
beforeAll(async () => {
  program = await buildProgram([everyCommand])
  all = rowsOf(program, '').filter(({ path }) => path !== 'export' && !path.startsWith('export '))
  runnable = all.filter(({ path, command }) => command.commands.length === 0 || /^(grant|org export)$/.test(path))
})

const rowsOf = (command: Command, above: string): Row[] =>
  command.commands.flatMap((one) => {
    const path = `${above} ${one.name()}`.trim()
    return [{ path, command: one }, ...rowsOf(one, path)]
  })

/**
 * Words after a noun that are no verbs. A plural lists what belongs to the object: `sync runs <binding>`. The others are
 * the words of the AWS KMS, of the vault, of keyrings and of the audit log.
 */
const nouns = new Set([
  ...[
    'agent tasks',
    'sync providers',
    'sync runs',
    'keys passkeys',
    'vault webhook deliveries',
    'env readers',
    'secrets overrides',
  ],
  ...[
    'kms data-key',
    'vault executor register-code',
    'keys passphrase',
    'keys kit',
    'audit timeline',
    'audit verify-archive',
  ],
  ...['org mfa', 'plan usage', 'plan portal', 'members offboarding', 'trust pin'],
])

describe('grammar', () => {
  it('a command below a noun is a verb of the table, or a noun that is listed here', () => {
    const below = runnable.filter(({ path }) => path.includes(' ')).map(({ path }) => path)
    const unknown = below.filter((path) => !Object.hasOwn(verbs, path.split(' ').at(-1)!) && !nouns.has(path))
    expect(unknown).toEqual([])
  })

  it('every verb of the table is in use', () => {
    const used = new Set(runnable.map(({ path }) => path.split(' ').at(-1)))
    expect(Object.keys(verbs).filter((verb) => !used.has(verb))).toEqual([])
  })

  it('no spelling is both a verb and another spelling of a verb', () => {
    expect(
      Object.values(otherSpellings)
        .flat()
        .filter((one) => Object.hasOwn(verbs, one)),
    ).toEqual([])
  })

  it('a noun whose objects can be created or deleted also lists them, and lists them alone', () => {
    for (const { path, command } of all.filter((row) => row.command.commands.length > 0)) {
      const names = command.commands.map((one) => one.name())
      if (!names.includes('create')) continue
      expect(names, path).toContain('ls')
      expect(locate(program, path.split(' ')).path.at(-1)?.name(), path).toBe('ls')
    }
  })

  it('what is created is named by an argument', () => {
    for (const { path, command } of runnable.filter((row) => row.path.endsWith(' create'))) {
      if (path === 'vault key create') continue
      expect(command.registeredArguments.length, path).toBeGreaterThan(0)
      expect(
        command.options.filter(({ long, hidden }) => long === '--name' && hidden),
        path,
      ).toEqual(['token create', 'client create'].includes(path) ? [expect.anything()] : [])
    }
  })

  it('list, delete, remove, add and update work wherever their verb does', () => {
    for (const { path, command } of runnable)
      for (const spelling of otherSpellings[command.name()] ?? []) {
        const words = [...path.split(' ').slice(0, -1), spelling]
        expect(locate(program, words).path.at(-1), words.join(' ')).toBe(command)
      }
  })

  it('an option has the same value and the same meaning of its name in every command', () => {
    const shapes = new Map<string, Set<string>>()
    for (const { command } of runnable)
      for (const { long, flags, hidden } of command.options)
        if (long && !hidden) shapes.set(long, (shapes.get(long) ?? new Set()).add(flags.replace(/^-\w, /, '')))
    const several = [...shapes].filter(([, flags]) => flags.size > 1).map(([long, flags]) => [long, [...flags]])
    expect(Object.fromEntries(several)).toEqual({
      '--adopt': ['--adopt', '--adopt <names>'],
      '--expires': ['--expires <date>', '--expires <when>', '--expires <duration>'],
      '--key': ['--key <key>', '--key <publicKey>'],
      '--only': ['--only <NAME,...>', '--only <env>'],
      '--provisioner': ['--provisioner', '--provisioner <token>'],
      '--request': ['--request', '--request <id>'],
      '--to': ['--to <env>', '--to <field=value>'],
    })
  })

  it('--env is there wherever --branch is, and --app wherever --env is', () => {
    for (const { path, command } of runnable) {
      const longs = command.options.map(({ long }) => long)
      if (longs.includes('--branch')) expect(longs, path).toContain('--env')
      if (longs.includes('--env')) expect(longs, path).toContain('--app')
    }
  })
})

describe('help', () => {
  it('every command has two examples, and no example is of a command that does not exist', () => {
    expect([...exampleCommands].sort()).toEqual(['', ...all.map(({ path }) => path)].sort())
    for (const path of exampleCommands) expect(examplesOf(path).length, path).toBe(2)
  })

  it('every example and every step of a task is a valid command line', async () => {
    const lines = [
      ...exampleCommands.flatMap((path) => examplesOf(path).map(([line]) => line)),
      ...tasks.flatMap(({ steps }) => steps.map(([line]) => line)),
    ]
    const wrong: string[] = []
    for (const line of lines) {
      const problem = await problemOf(line)
      if (problem) wrong.push(`${line}: ${problem}`)
    }
    expect(wrong).toEqual([])
  })

  it('every command line of docs/first-week.md and of the pages about the command line is valid', async () => {
    const pages = ['docs/first-week.md', ...globSync('docs/command-line{,/*}.md', { cwd: root })]
    const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
    const lines = [...text.matchAll(/^(?: {4})?((?:(?:echo|printf) .* \| )?skerry .*)$/gm)].map(([, line = '']) => line)
    expect(lines.length).toBeGreaterThan(80)
    const problems = await Promise.all(lines.map(async (line) => [line, await problemOf(line)]))
    expect(problems.filter(([, problem]) => problem)).toEqual([])
  })

  it('every command and every task leads to a document that exists', () => {
    const paths = new Set(all.map(({ path }) => path))
    expect(Object.keys(documents).filter((path) => path !== 'export' && !paths.has(path))).toEqual([])
    expect(program.commands.map((one) => one.name()).filter((name) => !Object.hasOwn(documents, name))).toEqual([])
    for (const document of [...Object.values(documents), ...tasks.map((task) => task.document)]) {
      const [file, anchor] = document.split('#')
      const headings = readFileSync(join(root, file!), 'utf8').match(/^#+ .*$/gm) ?? []
      if (anchor !== undefined) expect(headings.map(anchorOf), document).toContain(anchor)
    }
  })

  it.each([
    ['rotate a database password', 'Rotate a database password'],
    ['how do I rotate postgres passwords', 'Rotate a database password'],
    ['new team member', 'Invite a new member'],
    ['add a person to a team', 'Add a person to a team'],
    ['create a team', 'Create a team'],
    ['create a group', 'Create a group of secrets that applications share'],
    ['share secrets between applications', 'Create a group of secrets that applications share'],
    ['sign up', 'Sign up and create an organization'],
    ['what can the server admin see', 'See what the server and its operator can read'],
    ['threat model', 'See what the server and its operator can read'],
    ['the server may be lying', 'Find out whether the server is lying'],
    ['trust', 'Accept a changed key, and trust it from now on'],
    ['conflict', 'Resolve a conflict'],
    ['smtp', 'Send mails through an SMTP server'],
    ['offline', 'Work without the server'],
    ['dockerfile', 'Use secrets in Docker and Docker Compose'],
    ['github actions', undefined],
    ['who read', 'Find out who read a secret'],
    ['who has seen a secret', 'Find out who read a secret'],
    ['backup', 'Back up the server and its database'],
    ['backup database', 'Back up the server and its database'],
    ['back up the server', 'Back up the server and its database'],
    ['upgrade', 'Upgrade Skerry'],
  ])('skerry help %s finds a task', (question, title) => {
    const found = tasksFor(question.split(' '))
    expect(found.length).toBeGreaterThan(0)
    if (title) expect(found[0]?.title).toBe(title)
  })

  it('skerry help with words that fit nothing finds no task', () => {
    expect(tasksFor(['zebra', 'the'])).toEqual([])
  })

  it('every command of the table is in a transcript', () => {
    const folder = join(import.meta.dirname, 'transcripts')
    const typed = readdirSync(folder)
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
      .filter((line) => line.startsWith('$ '))
      .flatMap((line) => line.split(/[|;&]/))
      .map((part) => part.slice(part.indexOf('skerry ')).split(' ').slice(1))
    const seen = new Set(typed.map((words) => locate(program, words).path.at(-1)))
    const unseen = runnable.filter(({ command }) => !seen.has(command)).map(({ path }) => path)
    expect(unseen).toEqual([])
  })
})

const anchorOf = (heading: string) =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

/** Parses the last `skerry` command of a line. No action runs. */
async function problemOf(line: string): Promise<string | undefined> {
  const words = wordsOf(line)
  const at = words.lastIndexOf('skerry')
  // A step of a task may be a command of another program.
  if (at === -1) return undefined
  const given = words.slice(at + 1)
  const fresh = await buildProgram([everyCommand])
  const { path, leading, rest } = locate(fresh, given)
  const command = path.at(-1)
  if (!command && given[0] !== 'help' && given[0] !== '--help') return 'names no command'
  if (!command) return undefined
  let problem: string | undefined
  command.exitOverride().action(() => {})
  command.configureOutput({ writeErr: () => {}, outputError: (text) => (problem = text) })
  try {
    await fresh.parseAsync([...path.map((one) => one.name()), ...leading, ...rest], { from: 'user' })
  } catch (error) {
    if (!/help|version/i.test((error as { code?: string }).code ?? '')) problem ??= (error as Error).message
  }
  return problem
}

/** Splits a line of a POSIX shell at its blanks, without the redirections. */
const wordsOf = (line: string): string[] =>
  (line.replace(/ [<>] ?\S+/g, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) =>
    word.replace(/^(['"])(.*)\1$/, '$2'),
  )
