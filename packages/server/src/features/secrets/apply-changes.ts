import type { ChangeRequest } from '@skerry/contract/changes/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { appendVersion, deleteSecret, type StoredSecret } from '../../model/secrets/versions.ts'
import { writeSecret } from '../../model/secrets/write.ts'
import type { Env } from '../envs/scope.ts'
import { checkEnvironmentQuota, type QuotaDeps } from './quota-cache.ts'
import { findVersion, lockSecret } from './store.ts'

/** A proposed change and its proposer. */
type Change = Pick<
  Static<typeof ChangeRequest>,
  'action' | 'secretName' | 'ciphertext' | 'restoreVersion' | 'baseVersion' | 'proposedByType' | 'proposedById'
> & { baseSecretId: string | null }

/** An applied change, as the audit log records it. */
interface Applied {
  action: 'secret.written' | 'secret.restored' | 'secret.deleted'
  secretId: string
  metadata: { environmentId: string; name: string; version: number; restoredFrom?: number }
}

/**
 * A change with the secret that it was proposed for, locked until the transaction ends; undefined if there was none.
 */
interface Based<Of extends Change> {
  change: Of
  secret: StoredSecret | undefined
}

/** Locks the secrets of the changes. Returns undefined if one is not the same secret at the same version any more. */
export async function lockBases<Of extends Change>(
  db: Tx,
  env: Env,
  changes: readonly Of[],
): Promise<Based<Of>[] | undefined> {
  // Locks the environment before its secrets, as a re-key does, so that the two cannot deadlock.
  await lockEnvironment(db, env, 'no key update')
  const bases: Based<Of>[] = []
  for (const change of changes) {
    const secret = await lockSecret(db, env, change.secretName)
    const isSame = (secret?.id ?? null) === change.baseSecretId && (secret?.currentVersion ?? 0) === change.baseVersion
    if (!isSame) return undefined
    bases.push({ change, secret })
  }
  return bases
}

interface Work {
  context: QuotaDeps
  db: Tx
  now: string
  newId: (kind: 'secret') => string
}

/** Applies all changes or none. Returns undefined if another request has just created the secret of the first one. */
export async function applyChanges<Of extends Change>(work: Work, env: Env, bases: readonly Based<Of>[]) {
  const done: (Applied & Pick<Based<Of>, 'change'>)[] = []
  for (const { change, secret } of bases) {
    const { secretName: name, ciphertext } = change
    if (ciphertext !== null) await checkEnvironmentQuota(work.context, work.db, env, { name, bytes: ciphertext.length })
    const applied = await applyChange(work.db, env, change, secret, work)
    if (applied) done.push({ ...applied, change })
    else if (done.length === 0) return undefined
    else
      throw fail('conflict', `${name} was made by somebody else at the same time: nothing was applied; approve again`)
  }
  return done
}

/** Applies a change byte for byte, with the proposer as the author of the version. */
async function applyChange(
  db: Tx,
  env: Env,
  change: Change,
  secret: StoredSecret | undefined,
  { now, newId }: Pick<Work, 'now' | 'newId'>,
): Promise<Applied | undefined> {
  const { secretName: name, baseVersion, restoreVersion } = change
  const author = { type: change.proposedByType, id: change.proposedById }
  const about = { environmentId: env.id, name }
  if (change.action === 'put') {
    const { ciphertext } = change
    if (ciphertext === null) throw new Error('a proposed value is forgotten only when it can no longer be applied')
    const write = { newId: newId('secret'), name, ciphertext, expectedVersion: baseVersion, author, now }
    const written = await writeSecret(db, env, write)
    if (!written) return undefined // another request has just created it, when there was no row to lock
    return { action: 'secret.written', secretId: written.id, metadata: { ...about, version: written.version } }
  }
  if (!secret) return undefined
  if (change.action === 'delete') {
    await deleteSecret(db, env, secret.id)
    return { action: 'secret.deleted', secretId: secret.id, metadata: { ...about, version: secret.currentVersion } }
  }
  const old = restoreVersion === null ? undefined : await findVersion(db, env, secret.id, restoreVersion)
  if (restoreVersion === null || !old) throw new Error('versions are only ever added')
  const { ciphertext } = old
  const restored = await appendVersion(db, env, secret, { ciphertext, restoredFrom: restoreVersion, author, now })
  const metadata = { ...about, version: restored.version, restoredFrom: restoreVersion }
  return { action: 'secret.restored', secretId: secret.id, metadata }
}
