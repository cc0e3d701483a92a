import { limits } from '@skerry/contract/limits'
import { deleteSecret, putSecret, rewriteIfRekeyed, type SecretChange, type WrittenSecret } from '@skerry/sdk/secrets'
import { Failure, toFailure } from '../failure.ts'
import { note } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import { newKeeper } from './deleted.ts'
import type { Change } from './plan.ts'
import { isProtected, proposeAsOne, refuseQueued, wouldBeQueued } from './protection.ts'
import { noteOf, type Queueing } from './queued.ts'
import { checkQuota } from './quota.ts'
import { openKey } from './values.ts'

/** A deletion, with the version that must be current. */
export interface Deletion {
  name: string
  expectedVersion: number
}

/** Changes of one environment. */
interface Changes {
  puts: Change[]
  deletes?: Deletion[]
}

export interface Applied {
  written: { name: string; version: number }[]
  deleted: string[]
  queued: { name: string; changeRequestId: string; groupId: string | null }[]
}

const nothing: Applied = { written: [], deleted: [], queued: [] }

/** Writes the changes. In a protected environment, it proposes them instead. */
export async function applyChanges(
  session: Session,
  place: Place,
  { puts, deletes = [] }: Changes,
  flags: Queueing,
): Promise<Applied> {
  if (puts.length + deletes.length === 0) return nothing
  if (!(await isProtected(session, place))) return write(session, place, { puts, deletes }, flags)
  if (flags.failIfQueued) throw wouldBeQueued(place)
  return propose(session, place, { puts, deletes }, flags)
}

/** Checks what a write would find, and says that nothing is written. */
export async function tryChanges(
  session: Session,
  place: Place,
  { puts, present }: { puts: Change[]; present: number },
  flags: Queueing,
): Promise<Applied> {
  if (puts.length > 0 && (await isProtected(session, place))) {
    if (flags.failIfQueued) throw wouldBeQueued(place)
    note(`${place.label} is protected, so the changes would wait for approval`)
  }
  await checkQuota(session, place, { present, added: puts.filter((one) => one.expectedVersion === 0).length })
  note('dry run: nothing was written')
  return nothing
}

/** Says what was written or queued, of so many values. */
export function tellApplied({ written, queued }: Applied, place: Place, total: number): void {
  if (queued.length > 0) note(`queued ${queued.length} of ${total} for approval: ${place.label} is protected`)
  for (const { name, changeRequestId } of queued) note(`  ${changeRequestId} ${name}`)
  for (const groupId of new Set(queued.map((one) => one.groupId)))
    if (groupId !== null) note(`they are decided together: \`skerry changes show ${groupId}\``)
  if (written.length > 0 || queued.length === 0) note(`wrote ${written.length} of ${total} to ${place.label}`)
}

/** Proposes the changes as one, or as several if one change cannot hold them all. */
async function propose(
  session: Session,
  place: Place,
  { puts, deletes }: Required<Changes>,
  flags: Queueing,
): Promise<Applied> {
  const queued: Applied['queued'] = []
  const all = [...puts.map((put) => ({ put, gone: null })), ...deletes.map((gone) => ({ put: null, gone }))]
  for (let at = 0; at < all.length; at += limits.changeGroupMax) {
    const part = all.slice(at, at + limits.changeGroupMax)
    const changes = { puts: part.flatMap(({ put }) => put ?? []), deletes: part.flatMap(({ gone }) => gone ?? []) }
    const { groupId, changeRequests } = await proposeAsOne(session, place, changes, flags)
    for (const { id, secretName } of changeRequests) queued.push({ name: secretName, changeRequestId: id, groupId })
  }
  return { ...nothing, queued }
}

/**
 * Makes each change only if nobody else changed the secret in between. If one fails, the earlier ones stay, and the
 * error lists them.
 */
async function write(
  session: Session,
  place: Place,
  { puts, deletes }: Required<Changes>,
  flags: Queueing,
): Promise<Applied> {
  const { orgId, envId } = place
  const written: WrittenSecret[] = []
  const done: Applied = { written, deleted: [], queued: [] }
  const privateKey = await session.key()
  const key = await openKey(session, place)
  // Written values must open with the current key, even if the rest fails.
  const keepReadable = async () =>
    written.length > 0 ? rewriteIfRekeyed(session.client, place, privateKey, key, written) : []
  const put = async ({ name, value, expectedVersion }: Change): Promise<SecretChange | undefined> => {
    const options = { expectedVersion, ...noteOf(flags) }
    const answer = await putSecret(session.client, { orgId, envId, name }, value, key.dek, options)
    if ('queued' in answer) return answer.changeRequest
    written.push({ name, value, version: answer.secret.version })
  }
  const keeper = newKeeper(flags)
  const remove = async ({ name, expectedVersion }: Deletion): Promise<SecretChange | undefined> => {
    const options = { expectedVersion, ...noteOf(flags) }
    const answer = await keeper.delete((keep) =>
      deleteSecret(session.client, { orgId, envId, name }, { ...options, ...keep }),
    )
    if ('queued' in answer) return answer.changeRequest
    done.deleted.push(name)
    await session.knownState.reading.deleted(envId, [name])
  }
  const steps = [
    ...puts.map((one) => ({ name: one.name, make: () => put(one) })),
    ...deletes.map((one) => ({ name: one.name, make: () => remove(one) })),
  ]
  const names = steps.map(({ name }) => name)
  for (const { name, make } of steps) {
    const change = await make().catch(async (error) => {
      await keepReadable().catch(() => {})
      throw partial(error, name, done, names)
    })
    if (!change) continue
    done.queued.push({ name, changeRequestId: change.id, groupId: null })
    if (!flags.failIfQueued) continue
    await keepReadable()
    tellPartial(done, names)
    refuseQueued(change, place, flags)
  }
  const now = await keepReadable()
  return { ...done, written: now.map(({ name, version }) => ({ name, version })) }
}

function partial(error: unknown, at: string, done: Applied, names: string[]): Failure {
  const { kind, message } = toFailure(error)
  const why = kind === 'conflict' ? 'someone else changed it in the meantime' : message
  const count = tellPartial(done, names)
  const text = `${at} was not written (${why}); ${count} of ${names.length} were`
  const next =
    done.queued.length > 0
      ? 'write the rest alone: what is queued already would be queued again'
      : 'run the command again: what is written already counts as unchanged'
  return new Failure(kind, text, next)
}

/** Says which changes were made, and returns their number. */
function tellPartial({ written, deleted, queued }: Applied, names: string[]): number {
  const count = written.length + deleted.length + queued.length
  note(`written: ${written.map(({ name }) => name).join(', ') || 'none'}`)
  if (deleted.length > 0) note(`deleted: ${deleted.join(', ')}`)
  if (queued.length > 0) note(`queued for approval: ${queued.map(({ name }) => name).join(', ')}`)
  note(`not written: ${names.slice(count).join(', ') || 'none'}`)
  return count
}
