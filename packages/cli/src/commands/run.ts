import type { Command } from 'commander'
import { readDotenv } from '../dotenv-file.ts'
import { formatAge, parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { readTextFile } from '../input.ts'
import { checkSecretName } from '../names.ts'
import { common, gather, gatherGroups } from '../options.ts'
import { formatTable, note, warn, writeStderr } from '../output.ts'
import { become } from '../run/become.ts'
import { endAs, startChild } from '../run/child.ts'
import { buildLaunch, type Ingredients, type Launch } from '../run/environment.ts'
import { findProgram } from '../run/program.ts'
import { resolveTarget } from '../run/target.ts'
import { tellWithheld } from '../run/withheld.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  with?: string[]
  only?: string[]
  allowName?: string[]
  dotenv?: string
  offline?: boolean
  maxAge: string
  cache: boolean
  explain?: boolean
  watch?: boolean
  interval: string
}

export function register(command: Command): void {
  common(command)
    .usage('[options] -- <program> [arguments...]')
    .argument('<program...>')
    .passThroughOptions()
    .option('--app <slug>', 'application')
    .option('--env <slug>', 'environment')
    .option('--branch <slug>', 'branch of the environment')
    .option('--with <group=env>', 'take a group at another environment; repeatable', gatherGroups)
    .option('--only <NAME,...>', 'give the program these secrets alone; repeatable', gather)
    .option(
      '--allow-name <NAME,...>',
      'give it these, though their names make programs load or trust something',
      gather,
    )
    .option('--dotenv <file>', 'a .env file over the secrets')
    .option('--offline', 'use the last-known-good copy, without asking the server')
    .option('--max-age <duration>', 'how old that copy may be', '24h')
    .option('--no-cache', 'neither use nor keep a copy')
    .option('--explain', 'tell on stderr where each value comes from, never the value')
    .option('--watch', 'start the program anew when a secret changes')
    .option('--interval <duration>', 'between two looks of --watch', '10s')
    .addHelpText('after', helpAfter)
    .action(run)
}

const helpAfter = `
Which value wins, lowest first: groups, application environment, branch, --dotenv, the environment that
skerry is started with. No shell is started. skerry becomes the program (with --watch it stays in front of
it), so signals and the exit code are the program's own. SKERRY_TOKEN and SKERRY_CLIENT_SECRET are not
handed on, nor are secrets whose names make programs load code or trust someone (NODE_OPTIONS, PATH, ...)
unless --allow-name or allowNames in skerry.json lists them. When the server cannot be reached, the
last-known-good copy stands in, with a warning.`

async function run(argv: string[], flags: Options): Promise<void> {
  if (flags.offline && !flags.cache) throw usage('--offline needs the copy that --no-cache forbids')
  if (flags.offline && flags.watch) throw usage('--watch needs the server that --offline does not ask')
  for (const name of flags.only ?? []) checkSecretName(name)
  // `--only "$UNSET"` is no wish to start without any.
  if (flags.only?.length === 0) throw usage('--only names nothing', 'name secrets, or leave it out')
  const intervalSeconds = parseInterval(flags.interval)
  const session = await openSession(flags)
  const options = {
    with: flags.with ?? [],
    cache: flags.cache ? await openCache() : undefined,
    offline: flags.offline === true,
    maxAgeSeconds: parseDuration(flags.maxAge),
  }
  const { skerry, resolved } = await resolveTarget(session, options)
  if (resolved.stale) tellAge(resolved.ageSeconds, options.offline)
  for (const name of resolved.unresolved) warn(`a value refers to ${name}, which does not exist`)

  const overlay = flags.dotenv === undefined ? undefined : readOverlay(flags.dotenv)
  const allowNames = [...session.settings.allowNames, ...(flags.allowName ?? [])]
  const ingredients = { only: flags.only, allowNames, overlay, processEnv: process.env }
  const launch = buildLaunch({ ...ingredients, resolved })
  for (const one of launch.withheld) tellWithheld(one)
  if (flags.explain) explain(launch, flags)
  const file = findProgram(argv[0]!, launch.env.PATH)
  if (flags.watch) {
    process.exitCode = await watched(file, argv, { skerry, resolved, launch, ingredients, intervalSeconds })
  } else {
    become(file, argv, launch.env)
    process.exitCode = endAs(await startChild(file, argv, launch.env).done)
  }
}

/** As wide as the SDK's `watch` takes it; told before anything is fetched. */
function parseInterval(text: string): number {
  const seconds = parseDuration(text)
  if (seconds >= 1 && seconds <= 86_400) return seconds
  throw usage(`--interval ${text} is not between a second and a day`, 'write 10s or 5m')
}

async function openCache() {
  const { diskCache } = await import('@skerry/sdk/node/disk-cache')
  return diskCache()
}

interface Started extends Awaited<ReturnType<typeof resolveTarget>> {
  launch: Launch
  ingredients: Omit<Ingredients, 'resolved'>
  intervalSeconds: number
}

async function watched(file: string, argv: string[], started: Started): Promise<number> {
  const { runWatched } = await import('../run/watch.ts')
  const { skerry, resolved, launch, ingredients, intervalSeconds } = started
  const ending = await runWatched({
    skerry,
    revision: resolved.revision,
    intervalSeconds,
    env: launch.env,
    build: (next) => buildLaunch({ ...ingredients, resolved: next }).env,
    start: (env) => startChild(file, argv, env),
  })
  return endAs(ending)
}

function tellAge(ageSeconds: number, offline: boolean): void {
  if (offline) note(`offline: using the copy of ${formatAge(ageSeconds)} ago`)
  else warn(`the server cannot be reached: using the last-known-good copy of ${formatAge(ageSeconds)} ago`)
}

function readOverlay(file: string): { file: string; values: Map<string, string> } {
  const { values, problems, warnings } = readDotenv(readTextFile(file))
  for (const { line, message } of warnings) warn(`${file}, line ${line}: ${message}`)
  const [problem] = problems
  if (problem) throw usage(`${file}, line ${problem.line}: ${problem.message}`)
  return { file, values }
}

/** On stderr also as JSON: stdout is the program's. */
function explain({ origins }: Launch, flags: Options): void {
  const rows = origins.map(({ name, from, overrides }) => [name, from, overrides.join(', ')])
  const json = JSON.stringify({ secrets: origins })
  writeStderr(flags.json ? `${json}\n` : formatTable(['name', 'from', 'overrides'], rows))
}
