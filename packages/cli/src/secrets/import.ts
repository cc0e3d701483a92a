import { putSecret, rewriteIfRekeyed, type WrittenSecret } from '@skerry/sdk/secrets'
import { readDotenv } from '../dotenv-file.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import { readJsonValues } from '../formats.ts'
import { readTextFile } from '../input.ts'
import { note, warn, writeJson } from '../output.ts'
import { findPlace, namedPlace, type Place } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { noteOf } from './queued.ts'
import { fromSurroundings, literally, ownReferenceHint, refuseCycles } from './references.ts'
import { checkValue, openKey, storedSecrets } from './values.ts'

interface Options extends Flags {
  format?: 'dotenv' | 'json'
  dryRun?: boolean
  overwrite?: boolean
  keep?: boolean
  rename?: boolean
  literal?: boolean
  surrounding?: boolean
  note?: string
}

interface Change {
  name: string
  value: string
  /** 0: it must not exist. */
  expectedVersion: number
}

interface Plan {
  added: Change[]
  changed: Change[]
  unchanged: string[]
}

export async function importFile(path: string, flags: Options): Promise<void> {
  if (flags.overwrite && flags.keep) throw usage('--overwrite and --keep exclude each other')
  if (flags.literal && flags.surrounding) throw usage('--literal and --surrounding exclude each other')
  const values = readValues(path, flags)
  const session = await openSession(flags)
  const place = await findPlace(session, namedPlace(session, flags))
  const plan = makePlan(values, await storedSecrets(session, place))
  tell(plan, place)
  const differing = new Map([...plan.added, ...plan.changed].map(({ name, value }) => [name, value]))
  await refuseCycles(session, place, differing, ownReferenceHint)
  const report = { environment: { id: place.envId, label: place.label }, ...namesOf(plan) }
  if (flags.dryRun) {
    note('dry run: nothing was written')
    if (flags.json) writeJson({ ...report, written: [], queued: [] })
    return
  }
  const changes = (await overwrites(plan, flags)) ? [...plan.added, ...plan.changed] : plan.added
  const { written, queued } = await write(session, place, changes, flags)
  if (queued.length > 0) note(`queued ${queued.length} of ${values.size} for approval: ${place.label} is protected`)
  for (const { name, changeRequestId } of queued) note(`  ${changeRequestId} ${name}`)
  if (written.length > 0 || queued.length === 0) note(`wrote ${written.length} of ${values.size} to ${place.label}`)
  if (flags.json) writeJson({ ...report, written, queued })
}

function readValues(path: string, flags: Options): Values {
  const format = flags.format ?? (path.endsWith('.json') ? 'json' : 'dotenv')
  const name = path === '-' ? 'stdin' : path
  const text = readTextFile(path)
  const read = format === 'json' ? readJsonValues(text, name) : readDotenvValues(text, name, flags)
  const values = flags.literal ? literally(read) : flags.surrounding ? fromSurroundings(read, process.env) : read
  for (const [secret, value] of values) checkValue(secret, value)
  return values
}

function readDotenvValues(text: string, name: string, { rename = false, literal }: Options): Values {
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

function makePlan(values: Values, stored: { name: string; value: string; version: number }[]): Plan {
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

const namesOf = ({ added, changed, unchanged }: Plan) => ({
  new: added.map(({ name }) => name),
  changed: changed.map(({ name }) => name),
  unchanged,
})

function tell(plan: Plan, place: Place): void {
  const { new: added, changed, unchanged } = namesOf(plan)
  note(`${place.label}: ${added.length} new, ${changed.length} changed, ${unchanged.length} unchanged`)
  for (const name of added) note(`  + ${name}`)
  for (const name of changed) note(`  ~ ${name}`)
}

/** Nothing is written before it is clear what happens to values that differ. */
async function overwrites(plan: Plan, flags: Options): Promise<boolean> {
  if (plan.changed.length === 0 || flags.keep) return false
  if (flags.overwrite) return true
  const count = plan.changed.length
  const what = count === 1 ? '1 value differs from what is stored' : `${count} values differ from what is stored`
  if (!canAsk())
    throw new Failure(
      'conflict',
      `${what}; nothing was written`,
      'add --overwrite to replace them or --keep to leave them',
    )
  if (await ask(`${what}. Overwrite them?`)) return true
  throw new Failure('failure', 'nothing was written', 'add --keep to write only what is new')
}

interface Done {
  written: { name: string; version: number }[]
  queued: { name: string; changeRequestId: string }[]
}

/** Each write holds only if nobody wrote in between. What was written stays written, and is told when one fails. */
async function write(session: Session, place: Place, changes: Change[], flags: Options): Promise<Done> {
  const written: WrittenSecret[] = []
  const queued: Done['queued'] = []
  if (changes.length === 0) return { written, queued }
  const { orgId, envId } = place
  const privateKey = await session.key()
  const key = await openKey(session, place)
  for (const { name, value, expectedVersion } of changes) {
    try {
      const options = { expectedVersion, ...noteOf(flags) }
      const answer = await putSecret(session.client, { orgId, envId, name }, value, key.dek, options)
      if ('queued' in answer) queued.push({ name, changeRequestId: answer.changeRequest.id })
      else written.push({ name, value, version: answer.secret.version })
    } catch (error) {
      // What was written stays, so it must open, whatever comes of the rest.
      if (written.length > 0) await rewriteIfRekeyed(session.client, place, privateKey, key, written).catch(() => {})
      throw partial(error, name, { written, queued }, changes)
    }
  }
  if (written.length === 0) return { written, queued }
  const now = await rewriteIfRekeyed(session.client, place, privateKey, key, written)
  return { written: now.map(({ name, version }) => ({ name, version })), queued }
}

function partial(error: unknown, at: string, { written, queued }: Done, changes: Change[]): Failure {
  const done = written.length + queued.length
  const { kind, message } = toFailure(error)
  const why = kind === 'conflict' ? 'someone else changed it in the meantime' : message
  const names = changes.map(({ name }) => name)
  note(`written: ${written.map((one) => one.name).join(', ') || 'none'}`)
  if (queued.length > 0) note(`queued for approval: ${queued.map((one) => one.name).join(', ')}`)
  note(`not written: ${names.slice(done).join(', ')}`)
  const text = `${at} was not written (${why}); ${done} of ${changes.length} were`
  const next =
    queued.length > 0
      ? 'import the rest alone: what is queued already would be queued again'
      : 'run the import again: what is written already counts as unchanged'
  return new Failure(kind, text, next)
}
