import { type Command, Option } from 'commander'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { exportFormats } from '../formats/names.ts'
import { common, explained, gather } from '../options.ts'
import { endAs, startChild } from '../run/child.ts'
import { buildLaunch } from '../run/environment.ts'
import { exec } from '../run/exec.ts'
import { maskingOf } from '../run/masking.ts'
import { checkMount, isMounting, type MountOptions } from '../run/mount-options.ts'
import { checkLaunch, type LaunchOptions, launching } from '../run/options.ts'
import { type Prepared, prepare } from '../run/prepare.ts'
import { findProgram } from '../run/program.ts'

interface Options extends LaunchOptions, MountOptions {
  command?: string
  mask?: boolean
  watch?: boolean
  interval: string
  lease?: string[]
  ttl?: string
}

export function register(command: Command): void {
  explained(launching(common(command)), help)
    .usage('-- <program> [arguments...]')
    .argument('[program...]')
    .passThroughOptions()
    .option('--command <text>', 'command line for sh, instead of a program')
    .option('--mask', 'replace the values in the output of the program (default in CI, for pipes)')
    .option('--no-mask', 'do not replace values in the output of the program')
    .option('--mount <path>', 'give the values in a named pipe that can be read once, not in variables')
    .option('--mount-max-reads <number>', 'how often the pipe of --mount can be read; 0 is unlimited (default: 1)')
    .option('--mount-file <path>', 'give the values in a file that is deleted when the program ends')
    .addOption(
      new Option('--format <format>', 'format of --mount or --mount-file (default: by the file name)').choices([
        ...exportFormats,
      ]),
    )
    .option('--watch', 'restart the program when a secret changes')
    .option('--interval <duration>', 'how often --watch checks', '10s')
    .option('--lease <target>', 'also create a temporary account for the program; repeatable', gather)
    .option('--ttl <duration>', 'lifetime of the leases (default: 1h, or the longest that a target allows)')
    .action(run)
}

const help = `If a name has several values, the first of these wins: existing environment variables, --dotenv, your personal overrides, branch, environment, groups. With --override, existing variables come last.

The program starts without a shell. Its signals and exit code are its own. It does not get SKERRY_TOKEN and SKERRY_CLIENT_SECRET. Secrets with names such as PATH or NODE_OPTIONS can change how programs run, so they need --allow-name, or allowNames in skerry.json.

If the server cannot be reached, Skerry uses the last copy and warns.

The variables of --lease win over secrets with the same name. The leases end with the program, and Skerry warns if one expires before. \`skerry lease create --help\` lists the variables.`

async function run(program: string[], flags: Options): Promise<void> {
  checkFlags(flags)
  const intervalSeconds = parseInterval(flags.interval)
  const argv = commandLine(program, flags)
  checkLaunch(flags)
  const ttlSeconds = flags.ttl === undefined ? undefined : parseDuration(flags.ttl, '--ttl')
  const prepared = await prepare(flags)
  const { launch } = prepared
  const file = findProgram(argv[0]!, launch.env.PATH)
  const masking = maskingOf(flags.mask, launch.values)
  if (flags.lease) {
    const { runWithLeases } = await import('../run/leased.ts')
    await runWithLeases(file, argv, prepared, { targets: flags.lease, ttlSeconds, mask: flags.mask })
  } else if (isMounting(flags)) {
    const { runMounted } = await import('../run/mount.ts')
    process.exitCode = await runMounted(file, argv, prepared, { ...flags, masking })
  } else if (flags.watch) {
    process.exitCode = await watched(file, argv, prepared, { mask: flags.mask, intervalSeconds })
  } else {
    if (!masking) exec(file, argv, launch.env)
    process.exitCode = endAs(await startChild(file, argv, launch.env, masking).done)
  }
}

function checkFlags(flags: Options): void {
  if (flags.offline && flags.watch) throw usage('--watch needs the server that --offline does not ask')
  checkMount(flags)
  if (flags.ttl !== undefined && !flags.lease) throw usage('--ttl is for --lease', 'name the target with --lease')
  if (flags.lease && flags.offline) throw usage('--lease needs the server that --offline does not ask')
  if (flags.lease && flags.watch)
    throw usage('--watch and --lease cannot be used together', 'a restart would need a new lease')
  if (flags.lease && isMounting(flags)) throw usage('a mount and --lease cannot be used together')
  if (isMounting(flags) && flags.watch) throw usage('--watch and a mount cannot be used together')
}

function commandLine(program: string[], { command }: Options): string[] {
  if (command === undefined && program.length > 0) return program
  if (command === undefined) throw usage('no program is named', 'write it behind --, or a line for sh in --command')
  if (program.length > 0) throw usage('--command takes no program beside it', 'write all of it in one text')
  return ['sh', '-c', command]
}

/** Checks the interval against the limits of the SDK's `watch` before anything is fetched. */
function parseInterval(text: string): number {
  const seconds = parseDuration(text, '--interval')
  if (seconds >= 1 && seconds <= 86_400) return seconds
  throw usage(`--interval ${text} is not between a second and a day`, 'write 10s or 5m')
}

interface Watch {
  intervalSeconds: number
  mask: boolean | undefined
}

async function watched(file: string, argv: string[], prepared: Prepared, watch: Watch): Promise<number> {
  const { runWatched } = await import('../run/watch.ts')
  const { skerry, resolved, launch, ingredients } = prepared
  const ending = await runWatched({
    skerry,
    revision: resolved.revision,
    intervalSeconds: watch.intervalSeconds,
    launch,
    build: (next) => buildLaunch({ ...ingredients, resolved: next }),
    start: ({ env, values }) => startChild(file, argv, env, maskingOf(watch.mask, values)),
  })
  return endAs(ending)
}
