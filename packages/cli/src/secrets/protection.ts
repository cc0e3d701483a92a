import { limits } from '@skerry/contract/limits'
import { type ProposedChanges, proposeChanges, type SecretChange } from '@skerry/sdk/secrets'
import { Failure, usage } from '../failure.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import { newKeeper } from './deleted.ts'
import { noteOf, type Queueing } from './queued.ts'
import { openKey } from './values.ts'

/** Whether writes to the environment wait for approval. */
export async function isProtected(session: Session, { orgId, envId }: Place): Promise<boolean> {
  return (await session.client.protection.get({ params: { orgId, envId } })).protection !== null
}

/**
 * Encrypts the changes here and proposes them as one. Later, all of them are applied, or none. Deleted secrets can be
 * restored.
 */
export async function proposeAsOne(session: Session, place: Place, changes: ProposedChanges, flags: Queueing) {
  const { orgId, envId } = place
  const { puts, deletes = [] } = changes
  const { dek } = await openKey(session, place)
  return newKeeper(flags).delete((keep) => {
    const kept = { puts, deletes: deletes.map((one) => ({ ...one, ...keep })) }
    return proposeChanges(session.client, { orgId, envId }, kept, dek, noteOf(flags))
  })
}

/** Refuses more changes than one proposal can hold. */
export function checkProposable(count: number): void {
  if (count > limits.changeGroupMax)
    throw usage(`${count} secrets differ, and one proposal takes ${limits.changeGroupMax}`, 'propose them in parts')
}

/** With `--fail-if-queued`, refuses a protected environment before anything is proposed. */
export async function refuseIfProtected(session: Session, place: Place, flags: Queueing): Promise<void> {
  if (flags.failIfQueued && (await isProtected(session, place))) throw wouldBeQueued(place)
}

export const wouldBeQueued = ({ label }: Place): Failure =>
  new Failure(
    'conflict',
    `${label} is protected, so the change would wait for approval; nothing was proposed`,
    'to propose it, leave out --fail-if-queued, or use `skerry changes propose` for a file',
  )

/**
 * With `--fail-if-queued`, refuses a change that was queued nevertheless. The environment became protected between the
 * check and the write.
 *
 * @param done the names that the command wrote or deleted before.
 */
export function refuseQueued({ id, secretName }: SecretChange, place: Place, flags: Queueing, done: string[] = []) {
  if (!flags.failIfQueued) return
  const before = done.length === 0 ? '' : `; done before it: ${done.join(', ')}`
  throw new Failure(
    'conflict',
    `${place.label} has become protected: the change of ${secretName} waits for approval as ${id}${before}`,
    `have it approved, or take it back with \`skerry changes withdraw ${id}\``,
  )
}
