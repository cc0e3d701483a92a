import { limits } from '@skerry/contract/limits'
import { putSecret, rewriteIfRekeyed, type WrittenSecret } from '@skerry/sdk/secrets'
import { isProtected, proposeAsOne } from '../changes/propose.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { note, type Output } from '../output.ts'
import type { Place } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { type Change, makePlan, namesOf, type Plan, type Reading, readValues, tellPlan } from './plan.ts'
import { noteOf } from './queued.ts'
import { ownReferenceHint, refuseCycles } from './references.ts'
import { openKey, storedSecrets } from './values.ts'

interface Options extends Flags, Reading {
  dryRun?: boolean
  overwrite?: boolean
  keep?: boolean
  note?: string
}

export async function importFile(
  _path: string,
  { session, flags, place, input: { values } }: AtPlace<Options, typeof parseImportFile>,
): Promise<Output> {
  const plan = makePlan(values, await storedSecrets(session, place))
  tellPlan(plan, place)
  const differing = new Map([...plan.added, ...plan.changed].map(({ name, value }) => [name, value]))
  await refuseCycles(session, place, differing, ownReferenceHint)
  const report = { environment: { id: place.envId, label: place.label }, ...namesOf(plan) }
  if (flags.dryRun) {
    note('dry run: nothing was written')
    return { json: { ...report, written: [], queued: [] } }
  }
  const changes = (await overwrites(plan, flags)) ? [...plan.added, ...plan.changed] : plan.added
  const guarded = changes.length > 0 && (await isProtected(session, place))
  const { written, queued } = await (guarded ? propose : write)(session, place, changes, flags)
  if (queued.length > 0) note(`queued ${queued.length} of ${values.size} for approval: ${place.label} is protected`)
  for (const { name, changeRequestId } of queued) note(`  ${changeRequestId} ${name}`)
  for (const groupId of new Set(queued.map((one) => one.groupId)))
    if (groupId !== null) note(`they are decided together: \`skerry changes show ${groupId}\``)
  if (written.length > 0 || queued.length === 0) note(`wrote ${written.length} of ${values.size} to ${place.label}`)
  return { json: { ...report, written, queued } }
}

export async function parseImportFile(flags: Options, path: string) {
  if (flags.overwrite && flags.keep) throw usage('--overwrite and --keep exclude each other')
  const values = await readValues(path, flags)
  return { values }
}

/** Decides what happens to values that differ, before anything is written. */
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
  queued: { name: string; changeRequestId: string; groupId: string | null }[]
}

/** Proposes the writes as one change, or as several if one change cannot hold them all. */
async function propose(session: Session, place: Place, changes: Change[], flags: Options): Promise<Done> {
  const queued: Done['queued'] = []
  for (let at = 0; at < changes.length; at += limits.changeGroupMax) {
    const puts = changes.slice(at, at + limits.changeGroupMax)
    const { groupId, changeRequests } = await proposeAsOne(session, place, { puts }, flags)
    for (const { id, secretName } of changeRequests) queued.push({ name: secretName, changeRequestId: id, groupId })
  }
  return { written: [], queued }
}

/**
 * Writes each value only if nobody else wrote it in between. If a write fails, the earlier ones stay, and the error
 * lists them.
 */
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
      if ('queued' in answer) queued.push({ name, changeRequestId: answer.changeRequest.id, groupId: null })
      else written.push({ name, value, version: answer.secret.version })
    } catch (error) {
      // The written values stay, so they must open with the current key, even if the rest fails.
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
