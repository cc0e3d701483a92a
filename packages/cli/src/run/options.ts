import type { Command } from 'commander'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { checkSecretName } from '../names.ts'
import { branchHelp, gather, gatherGroups, withEnv } from '../options.ts'
import { checkSelection, type Selection, selective } from '../selection.ts'
import type { Flags } from '../settings.ts'
import type { MountOptions } from './mount-options.ts'

/** The options of `run` and `shell` that choose the values for a program. */
export interface LaunchOptions extends Flags, Selection, MountOptions {
  with?: string[]
  dotenv?: string
  override?: true | string[]
  allowName?: string[]
  offline?: boolean
  maxAge: string
  /** False for `--no-overrides`. */
  overrides: boolean
  cache: boolean
  explain?: boolean
}

export function launching(command: Command): Command {
  selective(
    withEnv(command.option('--app <slug>', 'application'))
      .option('--branch <slug>', branchHelp)
      .option('--with <group=env>', 'use another environment of a group; repeatable', gatherGroups),
  )
    .option('--allow-name <NAME,...>', 'set these variables, even though they can change how programs run', gather)
    .option('--prefix <text>', 'text to put before each name, such as TF_VAR_')
    .option('--dotenv <file>', '.env file whose values override the secrets')
    .option('--override [NAME,...]', 'override existing environment variables; =NAME,... for these alone', names)
    .option('--offline', 'use the stored copy without asking the server')
    .option('--max-age <duration>', 'oldest copy to use when the server cannot be reached', '24h')
    .option('--no-overrides', 'leave out the values that you stored for yourself')
    .option('--no-cache', 'neither use nor store a copy')
    .option('--explain', 'print where each value comes from, without the value')
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => parse(closeOverride(command, args))
  return command
}

const names = (text: string, before: true | string[] = []): true | string[] =>
  text === '' || before === true ? true : gather(text, before)

/** In `run --override printenv`, `printenv` is the program, because a name for `--override` must follow a `=`. */
function closeOverride(command: Command, args: string[]): string[] {
  const closed = [...args]
  for (let i = 0; i < closed.length; i++) {
    const arg = closed[i]!
    if (arg === '--' || !arg.startsWith('-')) break
    if (arg === '--override') closed[i] = '--override='
    if (command.options.some(({ long, required }) => long === arg && required)) i++
  }
  return closed
}

export function checkLaunch(flags: LaunchOptions): void {
  if (flags.offline && !flags.cache) throw usage('--offline needs the copy that --no-cache forbids')
  checkSelection(flags)
  if (Array.isArray(flags.override)) for (const name of flags.override) checkSecretName(name)
  parseDuration(flags.maxAge, '--max-age')
}
