import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { AnyJob } from '../../jobs/job.ts'
import { type Entry, transactWithAudit } from '../../kernel/audit.ts'
import { instant, newId } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { findEnvironmentLabel } from '../../model/environments/label.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { lockGrant, rotatorHolder } from '../../model/grants/table.ts'
import { writeRotatedVersion } from '../secrets/rotation-writes.ts'
import { namesOf } from './account.ts'
import type { RotationResult, Run } from './one-run.ts'
import { checkProven, findRotatorEnv, noKey, openRotatorKey, type RotatorKey } from './rotator-key.ts'
import { deletePending, lockClaim, recordFailure, recordSuccess } from './run-store.ts'
import { nextAfter, retryAfter } from './schedule.ts'
import type { Rotation } from './scope.ts'

export const lost = 'another run has taken over, or the policy was removed'

/** Makes a proven value the current version. `username` names the account if two alternate. */
export async function finish(
  run: Run,
  rotatorKey: RotatorKey,
  candidate: { value: string; username: string | null },
): Promise<RotationResult> {
  const sealed = await seal(run.rotation, rotatorKey, candidate)
  const done = await transactWithAudit(run.context, run.origin, (db, record) =>
    write(run, rotatorKey, sealed, db, record),
  )
  if (done !== 'rekeyed') return done
  // The environment was re-keyed during the rotation. Nobody could open a value that is encrypted under the old key.
  const reopened = await openRotatorKey(run.context, run.rotation)
  checkProven(reopened)
  return finish(run, reopened, candidate)
}

type Sealed = { name: string; ciphertext: string }[]

async function seal(
  rotation: Rotation,
  { key }: RotatorKey,
  { value, username }: { value: string; username: string | null },
) {
  const [name, usernameSecret] = namesOf(rotation)
  const sealed: Sealed = [{ name: name as string, ciphertext: await key.seal(name as string, value) }]
  if (usernameSecret !== undefined && username !== null)
    sealed.push({ name: usernameSecret, ciphertext: await key.seal(usernameSecret, username) })
  return sealed
}

async function write(
  { context, rotation, claimedBy, origin }: Run,
  rotatorKey: RotatorKey,
  sealed: Sealed,
  db: Tx,
  record: (entry: Entry) => void,
): Promise<RotationResult | 'rekeyed'> {
  const { orgId, id, environmentId, secretName } = rotation
  const now = instant(context)
  // Locks in the same order as a re-key.
  const of = { orgId, id: environmentId }
  if (!(await lockEnvironment(db, of, 'no key update'))) throw fail('not_found', 'the environment was deleted')
  const policy = await lockClaim(db, rotation, claimedBy)
  if (!policy) throw fail('conflict', lost)
  const grant = await lockGrant(db, of, rotatorHolder(orgId), now)
  if (grant === undefined) throw fail('conflict', noKey)
  if (grant.wrappedDek !== rotatorKey.wrappedDek) return 'rekeyed'
  const env = await findRotatorEnv(context, db, orgId, environmentId)
  if (!env) throw fail('not_found', 'the environment was deleted')
  const actor = { type: 'rotator', id: orgId }
  const about = { environmentId, rotationId: id, ...(env.protection === null ? {} : { protected: true }) }
  const versions: number[] = []
  for (const { name, ciphertext } of sealed) {
    const written = await writeRotatedVersion(db, env, { name, ciphertext, now, newId })
    versions.push(written.version)
    const metadata = { ...about, name, version: written.version }
    record({ orgId, action: 'secret.written', resourceId: written.id, metadata, actor })
  }
  const version = versions[0] as number
  await deletePending(db, rotation, claimedBy)
  const nextRunAt = nextAfter(now, policy.intervalSeconds)
  const after = await recordSuccess(db, rotation, { at: now, nextRunAt, version })
  const metadata = { ...about, secretName, version }
  const by = origin.principal === null ? { actor } : {}
  record({ orgId, action: 'rotation.completed', resourceId: id, metadata, ...by })
  return { rotation: after, version, rotatedAt: now }
}

/** Admins are mailed at the third failure in a row, because the first failures often pass by themselves. */
const toldAt = 3

export async function recordFailed({ context, rotation, claimedBy, origin }: Run, error: unknown): Promise<void> {
  const lastError = error instanceof Refusal ? error.message : 'the server failed; its log has the cause'
  const { orgId, id, environmentId, secretName } = rotation
  let told: AnyJob[] = []
  await transactWithAudit(context, origin, async (db, record) => {
    told = []
    const at = instant(context)
    const nextRunAt = retryAfter(at, rotation.intervalSeconds, rotation.failureStreak + 1)
    const failed = await recordFailure(db, rotation, claimedBy, { at, nextRunAt, lastError })
    if (!failed) return
    const { failureStreak } = failed
    const by = origin.principal === null ? { actor: { type: 'rotator', id: orgId } } : {}
    const metadata = { environmentId, secretName, failureStreak }
    record({ orgId, action: 'rotation.failed', resourceId: id, metadata, ...by })
    if (failureStreak === toldAt) told = await tell(context, db, rotation)
  })
  for (const job of told) context.queue.nudge(job)
}

async function tell(context: Context, db: Tx, { orgId, id, environmentId, secretName }: Rotation) {
  const env = await findRotatorEnv(context, db, orgId, environmentId)
  if (!env) return []
  const environment = await findEnvironmentLabel(db, orgId, environmentId)
  const facts = { rotationId: id, environmentId, environment, secretName }
  return context.events.emit(db, 'rotation.failed', orgId, facts)
}
