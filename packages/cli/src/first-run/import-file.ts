import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { toFailure } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import { note, warn } from '../output.ts'
import { findPlace } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import { importFile } from '../secrets/import.ts'
import { makePlan, readValues } from '../secrets/plan.ts'
import { storedSecrets } from '../secrets/values.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'

// `skerry init` in a folder with a `.env`: its values move into Skerry. Only names are shown.

const dotenvFile = '.env'
const namesShown = 5

export interface ImportFlags extends Flags {
  import?: string
  yes?: boolean
}

/** Reads the file of `--import` before anything is created, because a mistake in it is a mistake on the command line. */
export const readImport = async (flags: ImportFlags): Promise<Values | undefined> =>
  flags.import === undefined ? undefined : readValues(flags.import, {})

/**
 * Imports the file of `--import`, or on a terminal the folder’s `.env` if the person agrees. Values that are stored
 * already stay as they are. Returns the names that were written.
 */
export async function importInto(
  session: Session,
  scope: { app: string; env: string; isReadable: boolean },
  values: Values | undefined,
  flags: ImportFlags,
): Promise<string[]> {
  const path = flags.import ?? dotenvFile
  if (values === undefined && !existsSync(dotenvFile)) return []
  adviseGitignore(path)
  const offered = values ?? (scope.isReadable && canAsk() && !flags.yes ? await readOffered() : undefined)
  if (!offered) return []
  const place = await findPlace(session, { app: scope.app, env: scope.env })
  const { added, changed } = makePlan(offered, await storedSecrets(session, place))
  const isWanted = values !== undefined || (added.length > 0 && (await ask(question(path, added, place.label), true)))
  if (!isWanted) return []
  const { json } = await importFile(path, {
    session,
    flags: { ...flags, keep: true },
    place,
    input: { values: offered },
  })
  if (changed.length > 0)
    note(`values that differ from ${path} were left: \`skerry secrets import ${path}\` compares them`)
  return (json as { written: { name: string }[] }).written.map(({ name }) => name)
}

function question(path: string, added: { name: string }[], label: string): string {
  const names = added.slice(0, namesShown).map(({ name }) => name)
  const others = added.length - names.length
  const list = others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ')
  return `import ${list} from ${path} into ${label}?`
}

/** A file that cannot be read does not stop `init`, which nobody asked to read it. */
async function readOffered(): Promise<Values | undefined> {
  try {
    return await readValues(dotenvFile, {})
  } catch (error) {
    warn(toFailure(error).message)
    return undefined
  }
}

/** The file has values in plain text, which a commit would publish. */
function adviseGitignore(path: string): void {
  const file = resolve(path)
  if (path === '-' || !isUnignored(file)) return
  const where = join(dirname(path), '.gitignore')
  note(`Git does not ignore ${path}: \`echo ${basename(file)} >> ${where}\` keeps it out of commits`)
}

/** Git ends with 1 for a path that it does not ignore, and with another code outside of a checkout. */
function isUnignored(file: string): boolean {
  try {
    execFileSync('git', ['check-ignore', '--quiet', '--', file], { cwd: dirname(file), stdio: 'ignore', timeout: 2000 })
    return false
  } catch (error) {
    return (error as { status?: unknown }).status === 1
  }
}
