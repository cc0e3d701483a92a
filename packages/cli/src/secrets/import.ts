import { Failure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import type { AtPlace } from '../frame.ts'
import { note, type Output } from '../output.ts'
import type { Place } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { applyChanges, tellApplied, tryChanges } from './apply.ts'
import { type Change, makePlan, namesOf, type Plan, type Reading, readValues, tellPlan } from './plan.ts'
import type { Queueing } from './queued.ts'
import { ownReferenceHint, refuseCycles } from './references.ts'
import { storedSecrets } from './values.ts'

/** Options of a command that writes several values over those of an environment. */
export interface Overwriting extends Queueing {
  dryRun?: boolean
  overwrite?: boolean
  keep?: boolean
}

interface Options extends Flags, Reading, Overwriting {}

export async function importFile(
  _path: string,
  { session, flags, place, input: { values } }: AtPlace<Options, typeof parseImportFile>,
): Promise<Output> {
  return writeValues(session, place, values, { ...flags, hint: ownReferenceHint })
}

/** Writes values that are new or differ from those of an environment, after a preview of their names. */
export async function writeValues(
  session: Session,
  place: Place,
  values: Values,
  flags: Overwriting & { hint: string },
): Promise<Output> {
  const stored = await storedSecrets(session, place)
  const plan = makePlan(values, stored)
  tellPlan(plan, place)
  const differing = [...plan.added, ...plan.changed]
  await refuseCycles(session, place, new Map(differing.map(({ name, value }) => [name, value])), flags.hint)
  const report = { environment: { id: place.envId, label: place.label }, ...namesOf(plan) }
  if (flags.dryRun) {
    const puts = flags.keep ? plan.added : differing
    const { written, queued } = await tryChanges(session, place, { puts, present: stored.length }, flags)
    const counts = countsOf(plan, puts)
    note(`dry run: ${inWords(counts, flags)}`)
    return { json: { ...report, written, queued, counts } }
  }
  const puts = (await overwrites(plan, flags)) ? differing : plan.added
  const applied = await applyChanges(session, place, { puts }, flags)
  tellApplied(applied, place, values.size)
  const counts = countsOf(plan, puts)
  note(`${applied.queued.length > 0 ? 'after approval: ' : ''}${inWords(counts, flags)}`)
  return { json: { ...report, written: applied.written, queued: applied.queued, counts } }
}

interface Counts {
  created: number
  replaced: number
  unchanged: number
  skipped: number
}

/** Counts what the writes do with the values of the file. A skipped value differs from what is stored, and stays. */
function countsOf({ added, changed, unchanged }: Plan, puts: readonly Change[]): Counts {
  const replaced = puts.length - added.length
  return { created: added.length, replaced, unchanged: unchanged.length, skipped: changed.length - replaced }
}

function inWords({ created, replaced, unchanged, skipped }: Counts, { keep }: Overwriting): string {
  const why = skipped > 0 && keep ? ' (--keep leaves what differs)' : ''
  return `${created} created, ${replaced} replaced, ${unchanged} unchanged, ${skipped} skipped${why}`
}

export async function parseImportFile(flags: Options, path: string) {
  checkOverwriting(flags)
  const values = await readValues(path, flags)
  return { values }
}

export function checkOverwriting({ overwrite, keep }: Overwriting): void {
  if (overwrite && keep) throw usage('--overwrite and --keep cannot be used together')
}

/** Decides what happens to values that differ, before anything is written. */
async function overwrites(plan: Plan, flags: Overwriting): Promise<boolean> {
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
