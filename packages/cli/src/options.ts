import { type Command, Option } from 'commander'
import { usage } from './failure.ts'
import { exportFormats } from './formats/names.ts'
import { otherSpellings } from './grammar.ts'
import { isWholeName, parsePlace } from './places.ts'

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

/** Adds `--env`, which may name an environment alone, or as other commands print it: app/env, app/env@branch, group:env. */
export const withEnv = (command: Command, help = 'environment'): Command =>
  command.option('--env <slug>', help).hook('preAction', splitEnv)

/** Writes the parts of `--env app/env@branch` to the options that name them. */
function splitEnv(command: Command): void {
  const { env } = command.opts<{ env?: string }>()
  if (env === undefined || !isWholeName(env)) return
  for (const [part, slug] of Object.entries(parsePlace(env))) {
    if (slug === undefined) continue
    if (!command.options.some((option) => option.attributeName() === part))
      throw usage(`--env ${env} names a ${part}, which this command cannot use`, `see \`--help\``)
    if (part !== 'env' && command.getOptionValue(part) !== undefined)
      throw usage(`--env ${env} already names the environment`, 'leave out --app, --group and --branch')
    command.setOptionValue(part, slug)
  }
}

/** Adds the options that name an environment of an application or a group, or a branch of it. */
export const addressed = (command: Command): Command => withEnv(owned(command)).option('--branch <slug>', branchHelp)

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

/** Adds `--old-head` to a command that signs the directory. */
export const continuing = (command: Command) =>
  command
    .option(
      '--old-head <version>',
      'continue a head that is more than 14 days old, after you asked another signer whether it is the newest',
    )
    .hook('preAction', (_, acting) => checkOldHead(acting.opts()))

function checkOldHead({ oldHead }: { oldHead?: string }): void {
  if (oldHead === undefined || /^[1-9]\d{0,8}$/.test(oldHead)) return
  throw usage(`--old-head must be the version of a head (you gave '${oldHead}')`, '`skerry trust status` shows it')
}

const whyWords = ['note', 'comment', 'reason']

/** Adds the option for a reason. Each command has one word for it, and accepts the words of the others. */
export const reasoned = (command: Command, word: string, help: string): Command =>
  whyWords
    .filter((other) => other !== word)
    .reduce((all, other) => alias(all, `--${other}`, word), command.option(`--${word} <text>`, help))

/** Adds `--note`, which gives the approvers a reason. */
export const noted = (command: Command) =>
  reasoned(command, 'note', 'reason for the approvers of a protected environment; the server can read it')

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
