import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { normalize } from './arguments.ts'
import { commands } from './commands/table.ts'
import { describe, exitCodes, Failure, redact, toFailure } from './failure.ts'
import { writeData, writeFailure, writeStderr } from './output.ts'
import { suggestionFor } from './suggestions.ts'

/** Runs one command line, given without the program's name. Returns the exit code. */
export async function main(typed: string[]): Promise<number> {
  const { leading, rest } = normalize(typed)
  let args = rest
  try {
    const program = await buildProgram(rest.find((arg) => !arg.startsWith('-')))
    const words = Math.max(1, namedBy(program, rest).length)
    args = [...rest.slice(0, words), ...leading, ...rest.slice(words)]
    await program.parseAsync(args, { from: 'user' }).catch((error) => {
      throw isUsage(error) ? usageFailure(error, pathOf(program, args)) : error
    })
    return Number(process.exitCode ?? exitCodes.ok)
  } catch (error) {
    return report(error, [...leading, ...args])
  }
}

/** Lists all commands by name, and loads the wanted one in full. Completion needs all of them in full. */
async function buildProgram(wanted: string | undefined): Promise<Command> {
  const program = new Command('skerry')
    .description('Secrets that only their readers can read')
    .version(manifest.version, '-v, --version')
    .usage('<command> [options]')
    .enablePositionalOptions()
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options]', '').trim()}`,
    })
    .helpCommand(false)
    .addHelpText('after', helpAfter)
  quietly(program)
  for (const { name, summary, load, hidden = false } of commands) {
    const command = program.command(name, { hidden }).description(summary)
    command.helpCommand(false)
    if (wanted === name || wanted === 'completion') (await load()).register(command)
  }
  return program
}

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

/**
 * Removes values from commander's message, because it repeats arguments that it does not understand, and one could be a
 * secret.
 */
function usageFailure(error: CommanderError, path: Command[]): Failure {
  const command = path.map((one) => one.name()).join(' ')
  if (error.code === 'commander.unknownCommand') return unknownCommand(error.message, path)
  const message = error.message
    .replace(/^error: /, '')
    .replace(/(--?[^'=\s]*)=[^']*/g, '$1=...')
    .replace(/(but got \d+): .*/s, '$1')
  return new Failure('usage', message.split('\n').join(' '), `see \`${command} --help\``)
}

/** Whether the command line is wrong. Commander throws for help and the version too. */
const isUsage = (error: unknown): error is CommanderError =>
  error instanceof CommanderError && !/^commander\.(help|version)/.test(error.code)

function unknownCommand(message: string, path: Command[]): Failure {
  const [skerry, ...above] = path.map((one) => one.name())
  const command = [skerry, ...above].join(' ')
  const word = /unknown command '(.*)'/.exec(message)?.[1] ?? ''
  const below = path.at(-1)!.commands.map((one) => one.name())
  const near = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message)?.[1]
  const byLetters = near && `did you mean ${near.replace(/[\w-]+/g, (name) => `\`${command} ${name}\``)}?`
  const next = suggestionFor(word, above, below) ?? byLetters ?? `see \`${command} --help\``
  return new Failure('usage', `there is no command \`${command} ${word}\``, next)
}

/** The commands that a command line names, from `skerry` on: `skerry`, `secrets`, `set`. */
function pathOf(program: Command, args: string[]): Command[] {
  const found = [program]
  for (const arg of args) {
    const below = found.at(-1)!.commands.find((one) => one.name() === arg)
    if (below) found.push(below)
  }
  return found
}

/** The commands that the first words name, one below the other. */
function namedBy(program: Command, words: string[]): Command[] {
  const [word, ...rest] = words
  const below = program.commands.find((one) => one.name() === word)
  return below ? [below, ...namedBy(below, rest)] : []
}

const helpAfter = `
Environment:
  SKERRY_TOKEN                          service token, or a person’s session
  SKERRY_CLIENT_ID, SKERRY_CLIENT_SECRET  machine client
  SKERRY_PASSPHRASE_FILE                file that holds the passphrase of your keyring
  SKERRY_STRICT=1                       refuse what an environment shows otherwise than before and is only warned of
  SKERRY_KEYRING=off                    keep no credential in the system’s keyring
  SKERRY_URL                            server, http://127.0.0.1:4700 unless set
  SKERRY_ORG, SKERRY_APP, SKERRY_ENV, SKERRY_BRANCH
  SKERRY_PROFILE                        stored credential to use
  SKERRY_ALLOW_INSECURE=1               send credentials over http:// to another machine
  NO_COLOR                              no colour

An option wins over a variable, a variable over skerry.json, skerry.json over the stored credential.

Exit codes:
  0 done               3 refused: not signed in, or not allowed   6 server unavailable
  1 failed             4 not found                              126 program cannot be executed
  2 wrong command line 5 conflict: changed meanwhile, or exists   127 program not found
  130 interrupted; \`skerry run\` ends as its program ends
`
