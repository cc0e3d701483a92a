import { type Command, Option } from 'commander'
import { usage } from './failure.ts'
import { exportFormats } from './formats/names.ts'
import { otherSpellings } from './grammar.ts'

/**
 * Adds a command that does something, with the options that all commands share. Each command has the shared options
 * itself, so that users can write them at the end. The verb also has its other spellings.
 */
export function leaf(parent: Command, usage: string, summary: string): Command {
  const command = parent.command(usage).summary(summary).description(summary)
  const verb = command.name()
  return common(command)
    .aliases(Object.hasOwn(otherSpellings, verb) ? otherSpellings[verb]! : [])
    .hook('preAction', (_, acting) => refuseEmpty(acting))
}

/** Refuses an empty name, such as a variable of a script that is not set. A program may get empty arguments. */
function refuseEmpty(command: Command): void {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const name = argument.name()
    const given: unknown = command.processedArgs[index]
    if (name !== 'program' && name !== 'value' && [given].flat().includes(''))
      throw usage(`<${name}> is empty`, 'check the variable or the quotes that it comes from')
  }
}

/** Adds a command that holds others: `skerry lease target`. */
export const noun = (parent: Command, name: string, summary: string, others: readonly string[] = []): Command =>
  parent.command(name).summary(summary).description(summary).helpCommand(false).aliases(others)

const sharedHeading = 'Shared options:'

/** Adds the options that all commands have. They are the last part of each help. */
export function common(command: Command): Command {
  return [
    new Option('--json', 'print machine-readable output to stdout'),
    new Option('--url <url>', 'address of the server'),
    new Option('--org <slug>', 'organization'),
    new Option('--profile <name>', 'stored credential to use'),
    new Option('--debug', 'print the stack trace of an error'),
  ].reduce((all, option) => all.addOption(option.helpGroup(sharedHeading)), command)
}

/** Adds sentences below the summary of a command's help. */
export const explained = (command: Command, text: string): Command =>
  command.description(`${command.description()}\n\n${text}`)

/** Adds an option that an earlier version had. It keeps working, and no help shows it. */
export const formerly = (command: Command, flags: string): Command => command.addOption(new Option(flags).hideHelp())

/** Adds another spelling of an option, which no help shows: `--expires` where the option is `--ttl`. */
export const alias = (command: Command, spelling: string, option: string): Command =>
  command
    .addOption(new Option(`${spelling} <value>`).hideHelp())
    .on(`option:${spelling.slice(2)}`, (value: string) => command.setOptionValue(option, value))

/**
 * Returns the value that is an argument now and was an option before.
 *
 * @param what the value, for the message: `name of the token`.
 */
export function argumentOr(argument: string | undefined, option: string | undefined, what: string): string {
  if (argument !== undefined && option !== undefined)
    throw usage(`you gave the ${what} twice`, 'give the argument alone')
  const value = argument ?? option
  if (value === undefined) throw usage(`the ${what} is missing`, '`--help` shows an example')
  return value
}

/** The help of `--branch`. */
export const branchHelp = 'branch of the environment; auto uses the git branch'

/** Adds the options that name an environment of an application or a group, or a branch of it. */
export const addressed = (command: Command): Command =>
  owned(command).option('--env <slug>', 'environment').option('--branch <slug>', branchHelp)

/** Adds the options that name an application or a group. */
export const owned = (command: Command): Command =>
  command.option('--app <slug>', 'application').option('--group <slug>', 'group, instead of an application')

/** Parses `--limit`. 0 is allowed only if it means all. */
export function parseLimit(text: string, least: 0 | 1): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw usage(`--limit must be a whole number${least === 0 ? '' : ' from 1'} (you gave '${text}')`)
}

/** Adds `--force` to a command that writes a file which the user names. */
export const overwriting = (command: Command) => command.option('--force', 'replace an existing file')

export const confirmable = (command: Command) => command.option('-y, --yes', 'do not ask for confirmation')

/** Adds `--reader` to a command that wraps a key to readers which the server lists. */
export const accepting = (command: Command) =>
  command.option(
    '--reader <reader>',
    'accept this new reader: an e-mail address, a token, or `recovery` for the recovery key; repeatable',
    gather,
  )

/** Adds `--note`, which gives the approvers a reason. */
export const noted = (command: Command) =>
  command.option('--note <text>', 'reason for the approvers of a protected environment; the server can read it')

/** Adds the options of a command that writes secrets, or proposes the change in a protected environment. */
export const queueing = (command: Command) =>
  noted(command).option('--fail-if-queued', 'exit with 5 and propose nothing if the environment is protected')

/** Adds the options that control how a file of values is read. */
export const reading = (command: Command) =>
  command
    .addOption(
      new Option('--format <format>', 'format of the file (default: recognized by its name and content)').choices([
        ...exportFormats,
      ]),
    )
    .option('--rename', 'store my.name and my-name as my_name')
    .option('--flatten', 'YAML: store the key host of the map db as db_host')
    .option('--literal', 'keep every ${NAME} as text instead of a reference')
    .option('--surrounding', 'in PATH=${PATH}:/x, use the PATH of this shell')

/** A list that may be given in one option or in several. */
export const gather = (text: string, before: string[] = []) => [...before, ...text.split(',').filter(Boolean)]

/** `group=env` or, as the API writes it, `group:env`. */
export function gatherGroups(text: string, before: string[] = []): string[] {
  const pairs = gather(text).map((pair) => {
    const [, group, env] = /^([^=:]+)[=:]([^=:]+)$/.exec(pair) ?? []
    if (group === undefined || env === undefined)
      throw usage(`--with must have the form group=environment (you gave ${pair})`)
    return `${group}:${env}`
  })
  return [...before, ...pairs]
}
