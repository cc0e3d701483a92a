import { type DeletedSecret, deleteSecret, type SecretChange } from '@skerry/sdk/secrets'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { placeOptions } from '../labels.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output } from '../output.ts'
import type { Place } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { type Keeper, keptTime, listDeletedIfAllowed, newKeeper } from './deleted.ts'
import { howDeleted, tryRemove } from './dry-run.ts'
import { noSecret } from './missing.ts'
import { refuseIfProtected, refuseQueued } from './protection.ts'
import { noteOf, noteQueued, type Queueing, withoutCiphertext } from './queued.ts'
import { changed, expectedVersion } from './write.ts'

interface Options extends Flags, Queueing {
  expectedVersion?: string
  dryRun?: boolean
  purge?: boolean
  yes?: boolean
}

type Input = AtPlace<Options, typeof parseRemove>

/** Deletes secrets. They can be restored, except with `--purge`. */
export async function remove(_given: string[], input: Input): Promise<Output> {
  const { session, flags, place } = input
  const { names, expected } = input.input
  const kept = flags.purge ? await keptOf(session, place, names) : []
  if (flags.dryRun) return tryRemove(session, place, { names, kept, ...expected }, flags)
  await refuseIfProtected(session, place, flags)
  await checkThere(session, place, names, kept)
  await confirmOrRefuse(`deletes ${names.join(', ')} from ${place.label} ${howDeleted(flags)}`, flags)
  const done: Done = { deleted: [], queued: [], keeper: newKeeper(flags) }
  for (const name of names) {
    const ofName = kept.filter((one) => one.name === name)
    await removeOne(name, ofName.length > 0, input, done)
    for (const one of ofName) await purgeOne(one, input, done)
  }
  return tell(done, input)
}

export function parseRemove(flags: Options, given: string[]) {
  for (const name of given) checkSecretName(name)
  const names = [...new Set(given)]
  const expected = expectedVersion(flags)
  if (flags.expectedVersion !== undefined && names.length > 1)
    throw usage('--expected-version can be used with one name only')
  return { names, expected }
}

interface Done {
  deleted: string[]
  queued: SecretChange[]
  keeper: Keeper
}

const beforeIt = ({ deleted }: Done) => (deleted.length === 0 ? '' : `; deleted before it: ${deleted.join(', ')}`)

/** @param mayBeMissing true if only deleted secrets may have the name, which are purged next. */
async function removeOne(name: string, mayBeMissing: boolean, { session, flags, place, input }: Input, done: Done) {
  const { orgId, envId, label } = place
  try {
    const send = (keep: { keepFor?: string }) =>
      deleteSecret(session.client, { orgId, envId, name }, { ...input.expected, ...noteOf(flags), ...keep })
    const answer = flags.purge ? await send({}) : await done.keeper.delete(send)
    if ('queued' in answer) return refuseOrKeep(answer.changeRequest, { flags, place }, done)
    done.deleted.push(name)
    // Recorded at once, so that this secret is not missed if the next deletion fails.
    await session.knownState.reading.deleted(envId, [name])
  } catch (error) {
    const { kind, message } = toFailure(error)
    if (error instanceof Failure) throw error
    if (kind === 'conflict') throw changed(name, label, flags.expectedVersion)
    if (kind === 'notFound' && mayBeMissing) return
    noteQueued(done.queued, label)
    if (kind === 'notFound') throw noSecret([name], label, [], beforeIt(done))
    throw new Failure(kind, `${name} was not deleted (${message})${beforeIt(done)}`)
  }
}

async function purgeOne({ id, name }: DeletedSecret, { session, flags, place }: Input, done: Done): Promise<void> {
  const { orgId, envId, label } = place
  const answer = await session.client.deletedSecrets
    .purge({ params: { orgId, envId, secretId: id } })
    .catch((error) => {
      noteQueued(done.queued, label)
      const { kind, message, next } = toFailure(error)
      const what = `the deleted ${name} was not deleted for good (${message})${beforeIt(done)}`
      throw new Failure(kind, what, next)
    })
  if ('queued' in answer) return refuseOrKeep(answer.changeRequest, { flags, place }, done)
  if (!done.deleted.includes(name)) done.deleted.push(name)
}

function refuseOrKeep(change: SecretChange, { flags, place }: { flags: Options; place: Place }, done: Done): void {
  done.queued.push(change)
  refuseQueued(change, place, flags, done.deleted)
}

function tell({ deleted, queued, keeper }: Done, { flags, place }: Input): Output {
  const { envId, label } = place
  const output = { json: { deleted, queued: queued.map(withoutCiphertext), environmentId: envId } }
  noteQueued(queued, label)
  if (deleted.length > 0) note(`deleted ${deleted.join(', ')} from ${label}${flags.purge ? ' for good' : ''}`)
  if (flags.purge || !keeper.canKeep()) return output
  for (const name of deleted) note(`undo within ${keptTime}: \`skerry secrets restore ${name} ${placeOptions(label)}\``)
  return output
}

/** Lists the kept deleted secrets with these names, which `--purge` deletes too. */
const keptOf = async (session: Session, place: Place, names: string[]): Promise<DeletedSecret[]> =>
  (await listDeletedIfAllowed(session, place)).filter(({ name }) => names.includes(name))

/**
 * Reports a mistyped name before other secrets are deleted. A machine client that may delete but not list skips this
 * check.
 */
async function checkThere(
  session: Session,
  { orgId, envId, label }: Place,
  names: string[],
  kept: DeletedSecret[],
): Promise<void> {
  const answer = await session.client.secrets.list({ params: { orgId, envId } }).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  if (!answer) return
  const there = new Set([...answer.secrets, ...kept].map(({ name }) => name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return
  const nothingElse = names.length === 1 ? '' : '; nothing was deleted'
  throw noSecret(missing, label, [...there], nothingElse)
}
