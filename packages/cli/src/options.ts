import { type Command, Option } from 'commander'
import { usage } from './failure.ts'
import { exportFormats } from './formats/names.ts'

/**
 * Adds a command that does something, with the options that all commands share. Each command has the shared options
 * itself, so that users can write them at the end.
 */
export function leaf(parent: Command, usage: string, summary: string): Command {
  return common(parent.command(usage).description(summary))
}

export function common(command: Command): Command {
  return command
    .option('--json', 'machine-readable output on stdout')
    .option('--url <url>', 'address of the server')
    .option('--org <slug>', 'organization')
    .option('--profile <name>', 'stored credential to use')
    .option('--debug', 'print stack traces of failures')
}

/** Options that name an environment. */
export function addressed(command: Command, options: { branch?: boolean } = {}): Command {
  command
    .option('--app <slug>', 'application')
    .option('--env <slug>', 'environment')
    .option('--group <slug>', 'group, instead of an application')
  return options.branch === false
    ? command
    : command.option('--branch <slug>', 'branch of the environment; `auto`: the one of the git branch')
}

/** Parses `--limit`. 0 is allowed only if it means all. */
export function parseLimit(text: string, least: 0 | 1): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw usage(`--limit takes a whole number${least === 0 ? '' : ' from 1'}`)
}

/** Adds `--force` to a command that writes a file which the user names. */
export const overwriting = (command: Command) => command.option('--force', 'replace a file that exists')

export const confirmable = (command: Command) => command.option('-y, --yes', 'do not ask')

/** For commands that wrap a key to readers which the server lists. */
export const accepting = (command: Command) =>
  command.option(
    '--reader <id>',
    'accept this reader (user or token id, or `recovery` for the recovery key); repeatable',
    gather,
  )

/** Adds `--note`, which gives the approvers a reason. */
export const noted = (command: Command) =>
  command.option(
    '--note <text>',
    'why, for those who approve, where the environment is protected; the server can read it',
  )

/** Adds the options that control how a file of values is read. */
export const reading = (command: Command) =>
  command
    .addOption(
      new Option('--format <format>', 'recognised by the file’s content or name unless given').choices([
        ...exportFormats,
      ]),
    )
    .option('--rename', 'take my.name and my-name as my_name')
    .option('--literal', 'keep every ${NAME} as text; otherwise only in single quotes and in formats for programs')
    .option('--surrounding', 'in PATH=${PATH}:/x, put in the PATH of this environment')

/** A list that may be given in one option or in several. */
export const gather = (text: string, before: string[] = []) => [...before, ...text.split(',').filter(Boolean)]

/** `group=env` or, as the API writes it, `group:env`. */
export function gatherGroups(text: string, before: string[] = []): string[] {
  const pairs = gather(text).map((pair) => {
    const [, group, env] = /^([^=:]+)[=:]([^=:]+)$/.exec(pair) ?? []
    if (group === undefined || env === undefined) throw usage(`--with ${pair} is not group=environment`)
    return `${group}:${env}`
  })
  return [...before, ...pairs]
}
