import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { type Located, locate, normalize } from './arguments.ts'
import { commands } from './commands/table.ts'
import { describe, exitCodes, Failure, redact, toFailure } from './failure.ts'
import { setSigning } from './known-directories.ts'
import { writeData, writeFailure, writeStderr } from './output.ts'
import type { Session } from './session.ts'

// A signer needs a session, so the session cannot load it by itself.
setSigning(async (client, session) => (await import('./trust/signatory.ts')).signedClient(client, session as Session))

/** Runs one command line, given without the program's name. Returns the exit code. */
export async function main(typed: string[]): Promise<number> {
  const { leading, rest } = normalize(typed)
  let args = [...leading, ...rest]
  try {
    const isHelp = rest[0] === 'help'
    const words = isHelp ? [...rest.slice(1), '--help'] : rest
    const program = await buildProgram(words)
    const located = locate(program, words)
    if (isHelp && located.rest[0] !== '--help') return await helpWith(rest.slice(1))
    args = assemble(located, leading)
    if (printsHelp(located)) Object.assign(program.configureHelp(), (await import('./help/format.ts')).helpFormat)
    await program.parseAsync(args, { from: 'user' }).catch(async (error) => {
      throw isUsage(error) ? await usageFailure(error, [program, ...located.path]) : error
    })
    return Number(process.exitCode ?? exitCodes.ok)
  } catch (error) {
    return report(await withNames(error), args)
  }
}

/** `skerry help` with words that name no command describes a task. */
async function helpWith(words: string[]): Promise<number> {
  const { printTask } = await import('./help/find-task.ts')
  printTask(words)
  return exitCodes.ok
}

/** Puts the shared options behind the names of the commands, or behind a word that names none. */
function assemble({ path, leading, rest }: Located, before: string[]): string[] {
  const names = path.length > 0 ? path.map((one) => one.name()) : rest.slice(0, 1)
  return [...names, ...before, ...leading, ...(path.length > 0 ? rest : rest.slice(1))]
}

/** A noun prints its help unless a command below it is named. */
const printsHelp = ({ path, rest }: Located) =>
  path.length === 0 || path.at(-1)!.commands.length > 0 || rest.includes('--help') || rest.includes('-h')

/** Lists all commands by name, and loads the wanted one in full. Completion and the checks of help need all of them. */
export async function buildProgram(words: string[]): Promise<Command> {
  const wanted = words.find((word) => !word.startsWith('-')) ?? ''
  const program = new Command('skerry')
    .description('Store and use secrets that the server cannot read')
    .version(manifest.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage('<command> [options]')
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({})
  quietly(program)
  for (const { name, summary, group, aliases = [], load, hidden = false } of commands) {
    const command = program
      .command(name, { hidden })
      .summary(summary)
      .description(summary)
      .aliases(aliases)
      .helpGroup(group)
    command.helpCommand(false)
    const isWanted = wanted === name || aliases.includes(wanted) || wanted === 'completion' || wanted === everyCommand
    if (isWanted) (await load()).register(command)
  }
  return program
}

/** The word for `buildProgram` that loads every command. Nobody can type it. */
export const everyCommand = '\0every'

/**
 * Makes commander throw its messages, so that `report` prints all errors. Help texts go to stdout or stderr as
 * commander decides.
 */
function quietly(program: Command): void {
  program.exitOverride().configureOutput({
    writeOut: writeData,
    writeErr: writeStderr,
    outputError: () => {},
  })
}

/** A refusal of the signed directory names its signers by their ids. People know them by other names. */
async function withNames(error: unknown): Promise<unknown> {
  const { signers } = (error ?? {}) as { signers?: unknown }
  if (!Array.isArray(signers) || signers.length === 0) return error
  const session = (await import('./session.ts')).openedSession()
  if (session === undefined) return error
  const { nameSigners } = await import('./trust/signer-names.ts')
  return nameSigners(error as Error & { signers: string[] }, session)
}

function report(error: unknown, args: string[]): number {
  if (error instanceof CommanderError && error.code.startsWith('commander.help')) {
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  }
  if (error instanceof CommanderError && error.code === 'commander.version') return exitCodes.ok
  const failure = toFailure(error)
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  if (own.includes('--json')) {
    const { kind, next } = failure
    const message = redact(failure.message)
    const told = { error: { code: snakeCase(kind), message, ...(next === undefined ? {} : { next }) } }
    writeStderr(`${JSON.stringify(told)}\n`)
  } else {
    writeFailure(describe(failure))
  }
  if (own.includes('--debug') && error instanceof Error) writeStderr(`${redact(error.stack ?? '')}\n`)
  return exitCodes[failure.kind]
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Suggestions = typeof import('./suggestions.ts')

/**
 * Removes values from commander's message, because it repeats arguments that it does not understand, and one could be a
 * secret.
 */
async function usageFailure(error: CommanderError, path: Command[]): Promise<Failure> {
  // Loaded only for a wrong command line, so that a right one starts faster.
  const suggestions = await import('./suggestions.ts')
  const command = path.map((one) => one.name()).join(' ')
  if (error.code === 'commander.unknownCommand') return unknownCommand(error.message, path, suggestions)
  const message = error.message
    .replace(/^error: /, '')
    .replace(/(--?[^'=\s]*)=[^']*/g, '$1=...')
    .replace(/(but got \d+): .*/s, '$1')
    .replace(/\.$/, '')
  const option = /unknown option '([^'=]*)/.exec(error.message)?.[1]
  const next =
    (option && suggestions.optionFor(option)) ??
    excessHint(error, path) ??
    argumentNeeded(message, path) ??
    `see \`${command} --help\``
  return new Failure('usage', message.split('\n').join(' '), next)
}

/**
 * Returns the next step after a missing argument: the words that the command accepts, or the command that lists existing
 * names. The name of a new object has no such list.
 */
function argumentNeeded(message: string, path: readonly Command[]): string | undefined {
  const name = /missing required argument '(.*)'/.exec(message)?.[1]
  const [command, noun] = path.toReversed()
  const argument = command?.registeredArguments.find((one) => one.name() === name)
  if (!command || !noun || !argument) return undefined
  const help = `see \`${path.map((one) => one.name()).join(' ')} --help\``
  if (argument.argChoices) return `give one of ${argument.argChoices.join(', ')}; ${help}`
  const lists = noun.commands.some((one) => one.name() === 'ls') && command.name() !== 'create'
  const above = path.slice(0, -1).map((one) => one.name())
  return lists && command.registeredArguments[0] === argument
    ? `\`${above.join(' ')} ls\` lists what exists; ${help}`
    : undefined
}

const addToTeam =
  'add a person with `skerry teams include <team> <member>`, or invite one with `skerry invite create <email> --team <team>`'

/** Suggests the command for a person, or the option for an environment, that was one argument too many. */
function excessHint(error: CommanderError, path: readonly Command[]): string | undefined {
  if (error.code !== 'commander.excessArguments') return undefined
  const command = path.at(-1)!
  if (command.parent?.name() === 'teams' && command.name() === 'create') return addToTeam
  const [place] = command.args.slice(command.registeredArguments.length)
  const takesEnv = command.options.some(({ long, hidden }) => long === '--env' && !hidden)
  return takesEnv && /^[a-z0-9-]+[/:][a-z0-9-]+(@[a-z0-9-]+)?$/.test(place ?? '') ? `use \`--env ${place}\`` : undefined
}

/** Suggests the verb that was left out before its argument. */
function argumentFor(word: string, above: readonly string[]): string | undefined {
  if (above[0] === 'teams' && ['invite', 'join'].includes(word)) return addToTeam
  const verb = above.length === 1 && above[0] === 'invite' && word.includes('@') ? 'create' : undefined
  return verb === undefined ? undefined : `use \`skerry ${above[0]} ${verb} ${word}\``
}

/** Whether the command line is wrong. Commander throws for help and the version too. */
const isUsage = (error: unknown): error is CommanderError =>
  error instanceof CommanderError && !/^commander\.(help|version)/.test(error.code)

function unknownCommand(message: string, path: Command[], { suggestionFor }: Suggestions): Failure {
  const [skerry, ...above] = path.map((one) => one.name())
  const command = [skerry, ...above].join(' ')
  const word = /unknown command '(.*)'/.exec(message)?.[1] ?? ''
  const { commands: below } = path.at(-1)!
  const near = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message)?.[1]?.split(', ') ?? []
  // A near word may be another spelling of a command, which no message shows.
  const names = new Set(near.map((name) => below.find((one) => one.aliases().includes(name))?.name() ?? name))
  const byLetters = names.size > 0 && `did you mean ${[...names].map((name) => `\`${command} ${name}\``).join(' or ')}?`
  const belowNames = below.map((one) => one.name())
  const next =
    argumentFor(word, above) ?? suggestionFor(word, above, belowNames) ?? (byLetters || `see \`${command} --help\``)
  return new Failure('usage', `there is no command \`${command} ${word}\``, next)
}
