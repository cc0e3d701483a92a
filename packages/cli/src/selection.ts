import type { CryptoError } from '@skerry/crypto/errors'
import type { Command } from 'commander'
import { Failure, usage } from './failure.ts'
import { checkSecretName, isSecretName } from './names.ts'
import { orNearestOf } from './nearest.ts'
import { gather } from './options.ts'

/** Options that select secrets of an environment, and a prefix for their names. */
export interface Selection {
  only?: string[]
  except?: string[]
  prefix?: string
}

/** Everything that was resolved: values, and the names whose references cannot be expanded. */
export interface Selectable {
  values: Record<string, string>
  unexpanded: ReadonlyMap<string, CryptoError>
}

export function selective(command: Command): Command {
  return command
    .option('--only <NAME,...>', 'these secrets alone; repeatable', gather)
    .option('--except <NAME,...>', 'all secrets but these; repeatable', gather)
}

/** Checks the options before anything is fetched. */
export function checkSelection({ only, except, prefix }: Selection): void {
  if (only && except) throw usage('--only and --except cannot be used together')
  for (const [option, names] of [
    ['--only', only],
    ['--except', except],
  ] as const) {
    for (const name of names ?? []) checkSecretName(name)
    // `--only "$UNSET"` is a mistake, and not a wish to start without secrets.
    if (names?.length === 0) throw usage(`${option} is empty`, 'name secrets, or leave it out')
  }
  if (prefix !== undefined && !isSecretName(prefix)) {
    throw usage('--prefix is not a valid start of a name', 'use letters, digits and _, not starting with a digit')
  }
}

/** Returns the selected secrets by their stored names. It fails if an option names a secret that does not exist. */
export function select({ values, unexpanded }: Selectable, selection: Selection): Map<string, string> {
  const { only, except = [] } = selection
  const isThere = (name: string) => values[name] !== undefined || unexpanded.has(name)
  for (const [option, names] of [
    ['--only', only],
    ['--except', except],
  ] as const) {
    const missing = (names ?? []).filter((name) => !isThere(name))
    if (missing.length === 0) continue
    throw new Failure(
      'notFound',
      `${option} names secrets that do not exist: ${missing.join(', ')}`,
      orNearestOf(missing, [...Object.keys(values), ...unexpanded.keys()], 'see `skerry run --explain`'),
    )
  }
  const names = (only ?? [...Object.keys(values), ...unexpanded.keys()]).filter((name) => !except.includes(name))
  const broken = names.filter((name) => unexpanded.has(name))
  if (broken.length > 0) throw cannotExpand(broken, unexpanded, selection)
  return new Map(names.map((name) => [name, values[name]!]))
}

/** Says how to leave names out. --except can be added to one that is already there, but not to --only. */
export const leaveOutHint = (names: readonly string[], { only }: Selection): string =>
  only ? `take ${names.join(', ')} out of --only` : `leave out with --except ${names.join(',')}`

function cannotExpand(names: string[], reasons: ReadonlyMap<string, CryptoError>, selection: Selection): Failure {
  const whys = [...new Set(names.map((name) => reasons.get(name)!.message))].join('; ')
  const what = names.length === 1 ? `${names[0]} has no value` : `${names.join(', ')} have no values`
  return new Failure(
    'failure',
    `${what}: ${whys}`,
    `${leaveOutHint(names, selection)}, or mend with \`skerry secrets set\` (\`secrets get <NAME> --stored\` shows the text)`,
  )
}
