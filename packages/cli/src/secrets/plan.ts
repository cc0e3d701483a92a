import { renamed } from '@skerry/sdk/dotenv'
import { readDotenv } from '../dotenv-file.ts'
import { usage } from '../failure.ts'
import type { ExportFormat, Values } from '../formats/names.ts'
import { formatOfFile, isLiteral, readFormat } from '../formats/read.ts'
import { readYaml } from '../formats/yaml.ts'
import { readJsonValues } from '../formats.ts'
import { readTextFile } from '../input.ts'
import { isSecretName } from '../names.ts'
import { note, warn } from '../output.ts'
import type { Place } from '../places.ts'
import { fromSurroundings, literally } from './references.ts'
import { checkValue } from './values.ts'

/** Options that control how a file is read. */
export interface Reading {
  format?: ExportFormat
  rename?: boolean
  flatten?: boolean
  literal?: boolean
  surrounding?: boolean
}

/** A value to write. */
export interface Change {
  name: string
  value: string
  /** The version that must be current. 0 means that the secret must not exist. */
  expectedVersion: number
}

/** The values of a file, compared with the stored values. */
export interface Plan {
  added: Change[]
  changed: Change[]
  unchanged: string[]
}

export async function readValues(path: string, flags: Reading): Promise<Values> {
  if (flags.literal && flags.surrounding) throw usage('--literal and --surrounding cannot be used together')
  const name = path === '-' ? 'stdin' : path
  const text = readTextFile(path)
  const format = flags.format ?? formatOfFile(path, text)
  if (flags.flatten && format !== 'yaml')
    throw usage(`--flatten goes with YAML, and ${name} is ${format}`, 'leave it out, or add --format yaml')
  const read = await readAs(format, text, name, flags)
  const values =
    flags.literal || isLiteral(format)
      ? literally(read)
      : flags.surrounding
        ? fromSurroundings(read, process.env)
        : read
  for (const [secret, value] of values) checkValue(secret, value)
  return values
}

async function readAs(format: ExportFormat, text: string, name: string, flags: Reading): Promise<Values> {
  if (format === 'json') return readJsonValues(text, name)
  if (format === 'yaml') return readYaml(text, name, { flatten: flags.flatten, nameOf: nameReader(flags) })
  return format === 'dotenv' ? readDotenvValues(text, name, flags) : readFormat(format, text, name)
}

const nameReader =
  ({ rename = false }: Reading) =>
  (text: string) => {
    const name = rename ? renamed(text) : text
    return isSecretName(name) ? name : undefined
  }

function readDotenvValues(text: string, name: string, { rename = false, literal }: Reading): Values {
  const { values, stored, problems, warnings, differences } = readDotenv(text, { rename })
  for (const { line, message } of [...warnings, ...differences].sort((a, b) => a.line - b.line))
    warn(`${name}, line ${line}: ${message}`)
  if (problems.length === 0) return literal ? values : stored
  for (const { line, message } of problems) note(`${name}, line ${line}: ${message}`)
  const count = problems.length === 1 ? 'a line' : `${problems.length} lines`
  const next =
    rename || !/^\s*(export\s+)?[A-Za-z_][\w]*[.-][\w.-]*\s*=/m.test(text)
      ? ''
      : ', or take my-name as my_name with --rename'
  throw usage(`${name} was not imported, because ${count} cannot be read`, `mend what is named above${next}`)
}

export function makePlan(values: Values, stored: { name: string; value: string; version: number }[]): Plan {
  const known = new Map(stored.map((one) => [one.name, one]))
  const plan: Plan = { added: [], changed: [], unchanged: [] }
  for (const [name, value] of values) {
    const old = known.get(name)
    if (!old) plan.added.push({ name, value, expectedVersion: 0 })
    else if (old.value === value) plan.unchanged.push(name)
    else plan.changed.push({ name, value, expectedVersion: old.version })
  }
  return plan
}

export const namesOf = ({ added, changed, unchanged }: Plan) => ({
  new: added.map(({ name }) => name),
  changed: changed.map(({ name }) => name),
  unchanged,
})

/** @param deleted names that are deleted together with the writes. */
export function tellPlan(plan: Plan, place: Place, deleted: readonly string[] = []): void {
  const { new: added, changed, unchanged } = namesOf(plan)
  const gone = deleted.length === 0 ? '' : `, ${deleted.length} deleted`
  note(`${place.label}: ${added.length} new, ${changed.length} changed, ${unchanged.length} unchanged${gone}`)
  for (const name of added) note(`  + ${name}`)
  for (const name of changed) note(`  ~ ${name}`)
  for (const name of deleted) note(`  - ${name}`)
}
