import { Failure, toFailure } from '../failure.ts'
import { note, type Output } from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import { keptTime } from './deleted.ts'
import { noSecret } from './missing.ts'
import { isProtected, wouldBeQueued } from './protection.ts'
import type { Queueing } from './queued.ts'
import { checkQuota } from './quota.ts'
import { listSecrets, openKey } from './values.ts'

// The dry runs of `secrets set` and `secrets rm`. They check everything that the server would check, and write nothing.

interface Expected {
  expectedVersion?: number
}

/** Says whether `secrets set` would write the secret, and as which version. */
export async function trySet(
  session: Session,
  place: Place,
  { name, ...expected }: { name: string } & Expected,
  flags: Queueing,
): Promise<Output> {
  await openKey(session, place)
  const versions = await listVersions(session, place)
  if (versions) checkVersion(versions.get(name) ?? 0, name, expected, place)
  const needsApproval = await wouldWait(session, place, flags)
  if (versions && !versions.has(name)) await checkQuota(session, place, { present: versions.size, added: 1 })
  const version = versions ? (versions.get(name) ?? 0) + 1 : null
  const what = `${name} in ${place.label}${version === null ? '' : `, version ${version}`}`
  note(`dry run: nothing was written; this would ${needsApproval ? 'propose' : 'write'} ${what}`)
  return { json: { dryRun: true, name, version, needsApproval, environmentId: place.envId } }
}

/** Says what is left after a deletion. */
export const howDeleted = ({ purge }: { purge?: boolean }): string =>
  purge ? 'for good, with all versions' : `with all versions; you can restore it for ${keptTime}`

/** Says whether `secrets rm` would delete the secrets. */
export async function tryRemove(
  session: Session,
  place: Place,
  { names, kept, ...expected }: { names: string[]; kept: readonly { name: string }[] } & Expected,
  flags: Queueing & { purge?: boolean },
): Promise<Output> {
  const versions = await listVersions(session, place)
  const isKept = (wanted: string) => kept.some(({ name }) => name === wanted)
  const missing = versions ? names.filter((name) => !versions.has(name) && !isKept(name)) : []
  if (missing.length > 0)
    throw noSecret(missing, place.label, [...(versions?.keys() ?? []), ...kept.map(({ name }) => name)])
  for (const name of names) {
    const version = versions?.get(name)
    if (version !== undefined) checkVersion(version, name, expected, place)
  }
  const needsApproval = await wouldWait(session, place, flags)
  const what = `${names.join(', ')} from ${place.label} ${howDeleted(flags)}`
  note(`dry run: nothing was deleted; this would ${needsApproval ? 'propose to delete' : 'delete'} ${what}`)
  return { json: { dryRun: true, names, needsApproval, environmentId: place.envId } }
}

/** Undefined if the credential may write secrets but not list them. */
async function listVersions(session: Session, place: Place): Promise<Map<string, number> | undefined> {
  const listed = await listSecrets(session, place).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  return listed ? new Map(listed.map(({ name, version }) => [name, version])) : undefined
}

function checkVersion(current: number, name: string, { expectedVersion }: Expected, { label }: Place): void {
  if (expectedVersion === undefined || expectedVersion === current) return
  throw new Failure('conflict', `${name} in ${label} is at version ${current}, not ${expectedVersion}`)
}

async function wouldWait(session: Session, place: Place, { failIfQueued }: Queueing): Promise<boolean> {
  const waits = await isProtected(session, place)
  if (waits && failIfQueued) throw wouldBeQueued(place)
  return waits
}
