import { type Command, Option } from 'commander'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { exportFormats } from '../formats/names.ts'
import { common } from '../options.ts'
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
}

export function register(command: Command): void {
  launching(common(command))
    .usage('[options] -- <program> [arguments...]')
    .argument('[program...]')
    .passThroughOptions()
    .option('--command <text>', 'a line for sh, instead of a program')
    .option('--mask', 'replace the values in what the program prints; the default for pipes if CI is set')
    .option('--no-mask', 'never replace values in what the program prints')
    .option('--mount <path>', 'give the values through a new named pipe that can be read once, not in variables')
    .option('--mount-max-reads <number>', 'how often the pipe of --mount can be read; 0 for no limit (default: 1)')
    .option('--mount-file <path>', 'like --mount, with a file that exists until the program ends')
    .addOption(
      new Option(
        '--format <format>',
        'format of --mount or --mount-file; chosen by the name of the file unless given',
      ).choices([...exportFormats]),
    )
    .option('--watch', 'start the program anew when a secret changes')
    .option('--interval <duration>', 'between two looks of --watch', '10s')
    .addHelpText('after', helpAfter)
    .action(run)
}

const helpAfter = `
Which value wins, lowest first: groups, application environment, branch, --dotenv, the environment that
skerry is started with; with --override the last one comes first. No shell is started, except for --command.
skerry becomes the program (with --watch, --mount and --mask it stays in front of it), so signals and the
exit code are the program's own. In a CI job (CI is set), values are masked in output that goes into a pipe. SKERRY_TOKEN and SKERRY_CLIENT_SECRET are not handed on, nor are secrets
whose names make programs load code or trust someone (NODE_OPTIONS, PATH, ...) unless --allow-name or
allowNames in skerry.json lists them. When the server cannot be reached, the last-known-good copy stands
in, with a warning.`

async function run(program: string[], flags: Options): Promise<void> {
  checkFlags(flags)
  const intervalSeconds = parseInterval(flags.interval)
  const argv = commandLine(program, flags)
  checkLaunch(flags)
  const prepared = await prepare(flags)
  const { launch } = prepared
  const file = findProgram(argv[0]!, launch.env.PATH)
  const masking = maskingOf(flags.mask, launch.values)
  if (isMounting(flags)) {
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
  if (isMounting(flags) && flags.watch) throw usage('--watch and a mount exclude each other')
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
