import { formatAge, parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { formatTable, note, warn, writeStderr } from '../output.ts'
import { openSession, type Session } from '../session.ts'
import { buildLaunch, type Ingredients, type Launch, personalOverride } from './environment.ts'
import { isMounting } from './mount-options.ts'
import type { LaunchOptions } from './options.ts'
import { resolveTarget, type Target } from './target.ts'
import { tellWithheld } from './withheld.ts'

export interface Prepared extends Target {
  session: Session
  launch: Launch
  ingredients: Omit<Ingredients, 'resolved'>
}

/** Resolves the values and prints its warnings to stderr. Returns the environment to start the program with. */
export async function prepare(flags: LaunchOptions): Promise<Prepared> {
  const session = await openSession(flags)
  const target = await resolveTarget(session, {
    with: flags.with ?? [],
    cache: flags.cache ? await openCache() : undefined,
    offline: flags.offline === true,
    maxAgeSeconds: parseDuration(flags.maxAge, '--max-age'),
    overrides: flags.overrides,
  })
  const { resolved } = target
  if (resolved.stale) tellAge(resolved.ageSeconds, flags.offline === true)
  for (const name of resolved.unresolved) warn(`a value refers to ${name}, which does not exist`)
  const overlay = flags.dotenv === undefined ? undefined : await readOverlay(flags.dotenv)
  const allowNames = [...session.settings.allowNames, ...(flags.allowName ?? [])]
  const override = flags.override ?? []
  const isMounted = isMounting(flags)
  const ingredients = { selection: flags, allowNames, overlay, processEnv: process.env, override, isMounted }
  const launch = buildLaunch({ ...ingredients, resolved })
  for (const one of launch.withheld) tellWithheld(one)
  tellOverridden(launch)
  if (flags.explain) explain(launch, flags, target)
  // A mounted file contains the secrets, whatever the environment holds.
  else if (!isMounted) tellHidden(launch)
  return { ...target, session, launch, ingredients }
}

async function openCache() {
  const { diskCache } = await import('@skerry/sdk/node/disk-cache')
  return diskCache()
}

function tellAge(ageSeconds: number, offline: boolean): void {
  if (offline) note(`offline: using the copy of ${formatAge(ageSeconds)} ago`)
  else warn(`the server cannot be reached: using the last-known-good copy of ${formatAge(ageSeconds)} ago`)
}

async function readOverlay(file: string): Promise<{ file: string; values: Map<string, string> }> {
  const [{ readDotenv }, { readTextFile }] = await Promise.all([import('../dotenv-file.ts'), import('../input.ts')])
  const { values, problems, warnings } = readDotenv(readTextFile(file))
  for (const { line, message } of warnings) warn(`${file}, line ${line}: ${message}`)
  const [problem] = problems
  if (problem) throw usage(`${file}, line ${problem.line}: ${problem.message}`)
  return { file, values }
}

/** Names the personal overrides on stderr, so that a person knows why their program differs from that of others. */
function tellOverridden({ origins }: Launch): void {
  const used = origins.filter(({ from }) => from === personalOverride).map(({ name }) => name)
  if (used.length === 0) return
  note(`${used.length} personal ${used.length === 1 ? 'override' : 'overrides'} used: ${used.join(', ')}`)
}

/** Warns, because a variable that is set by accident, for example on a CI runner, would silently replace a secret. */
function tellHidden({ hidden }: Launch): void {
  if (hidden.length === 0) return
  const [is, one, them] = hidden.length === 1 ? ['is', 'the secret', 'it'] : ['are', 'the secrets', 'them']
  warn(
    `${hidden.join(', ')} ${is} also set in the environment that started skerry, which wins; ` +
      `add --override=${hidden.join(',')} to use ${one}, or unset ${them}`,
  )
}

/**
 * Writes to stderr, also as JSON, because stdout belongs to the program. It names the environment of a bound token,
 * which overrides `skerry.json`.
 */
function explain({ origins }: Launch, flags: LaunchOptions, { label: environment, isBound: bound }: Target): void {
  const rows = origins.map(({ name, from, overrides }) => [name, from, overrides.join(', ')])
  const json = JSON.stringify({ environment, bound, secrets: origins })
  if (bound && !flags.json) note(`the token is bound to ${environment}`)
  writeStderr(flags.json ? `${json}\n` : formatTable(['name', 'from', 'overrides'], rows))
}
