import { openDeleted, restoreDeletedSecret, restoreSecret, rewriteIfRekeyed } from '@skerry/sdk/secrets'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { placeOptions } from '../labels.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output } from '../output.ts'
import type { Flags } from '../settings.ts'
import { listDeleted } from './deleted.ts'
import { refuseIfProtected, refuseQueued } from './protection.ts'
import { noteOf, type Queueing, tellQueued } from './queued.ts'
import { openKey } from './values.ts'
import { changed, expectedVersion, isConflict, wholeNumber } from './write.ts'

interface Options extends Flags, Queueing {
  expectedVersion?: string
  deleted?: string
}

type Input = AtPlace<Options, typeof parseRestore>

/** Restores an earlier version; without a version, restores a secret that was deleted. */
export async function restore(name: string, _version: string | undefined, input: Input): Promise<Output> {
  await refuseIfProtected(input.session, input.place, input.flags)
  const { wanted } = input.input
  return wanted === undefined ? restoreDeleted(name, input) : restoreVersion(name, wanted, input)
}

export function parseRestore(flags: Options, name: string, version: string | undefined) {
  checkSecretName(name)
  const wanted = version === undefined ? undefined : wholeNumber(version, 'a version')
  if (wanted === undefined && flags.expectedVersion !== undefined)
    throw usage('--expected-version can be used with a version only', 'a deleted secret has no current version')
  if (wanted !== undefined && flags.deleted !== undefined)
    throw usage('--deleted cannot be used with a version', 'leave one of them out')
  return { wanted, expected: expectedVersion(flags) }
}

async function restoreVersion(name: string, wanted: number, { session, flags, place, input }: Input): Promise<Output> {
  const { orgId, envId, label } = place
  try {
    const dek = async () => (await openKey(session, place)).dek
    const options = { ...input.expected, ...noteOf(flags), openKey: dek }
    const answer = await restoreSecret(session.client, { orgId, envId, name }, wanted, options)
    if ('queued' in answer) {
      refuseQueued(answer.changeRequest, place, flags)
      return tellQueued(answer, label)
    }
    const { version } = answer.secret
    note(`restored ${name} in ${label} from version ${wanted}; it is version ${version} now`)
    return { json: { name, version, restoredFrom: wanted, environmentId: envId } }
  } catch (error) {
    if (isConflict(error)) throw changed(name, label, flags.expectedVersion)
    const { kind, message } = toFailure(error)
    if (kind !== 'notFound') throw error
    throw new Failure(
      kind,
      `${name} in ${label} was not restored: ${message}`,
      `see \`skerry secrets history ${name} ${placeOptions(label)}\``,
    )
  }
}

/** Restores the deleted secret of this name that `--deleted` names; without the option, the latest. */
async function restoreDeleted(name: string, { session, flags, place }: Input): Promise<Output> {
  const { envId, label } = place
  const ofName = (await listDeleted(session, place)).filter(
    (one) => one.name === name && (flags.deleted === undefined || one.id === flags.deleted),
  )
  const options = placeOptions(label)
  const last = ofName.find(({ restorable }) => restorable) ?? ofName[0]
  if (!last)
    throw new Failure(
      'notFound',
      `${label} keeps no deleted secret ${name}`,
      `see \`skerry secrets deleted ${options}\`; to restore an earlier version, name it: \`skerry secrets restore ${name} 1 ${options}\``,
    )
  if (!last.restorable)
    throw new Failure(
      'refused',
      `${name} was deleted before ${label} was re-keyed, so nobody has the key of its value`,
      `write it anew with \`skerry secrets set ${name} ${options}\``,
    )
  const key = await openKey(session, place)
  const value = await openDeleted(envId, last, key.dek)
  const answer = await restoreDeletedSecret(session.client, place, last, key.dek, noteOf(flags)).catch((error) => {
    if (!isConflict(error)) throw error
    throw new Failure(
      'conflict',
      `${label} has a secret ${name} again; nothing was restored`,
      `delete that first with \`skerry secrets rm ${name} ${options}\`, then run \`skerry secrets restore ${name} --deleted ${last.id} ${options}\``,
    )
  })
  if ('queued' in answer) {
    refuseQueued(answer.changeRequest, place, flags)
    return tellQueued(answer, label)
  }
  const written = [{ name, value, version: answer.secret.version }]
  await rewriteIfRekeyed(session.client, place, await session.key(), key, written)
  const { version } = answer.secret
  note(`restored ${name} in ${label} with its versions; it is version ${version} now`)
  return { json: { name, version, restoredFrom: last.version, environmentId: envId } }
}
