import type { SecretChangeRequest } from '@skerry/contract/changes/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { purgeSecret, restoreDeleted } from '../../model/secrets/deleted.ts'
import { appendVersion, deleteSecret, type StoredSecret } from '../../model/secrets/versions.ts'
import { writeSecret } from '../../model/secrets/write.ts'
import type { Env } from '../envs/scope.ts'
import { type LockedDeleted, lockDeleted } from './deleted-store.ts'
import { keepDeleted } from './keep.ts'
import { checkEnvironmentQuota, type QuotaDeps } from './quota-cache.ts'
import { resealedIf } from './secrets.ts'
import { findVersion, lockSecret } from './store.ts'

/** A proposed change and its proposer. */
type Change = Pick<
  Static<typeof SecretChangeRequest>,
  | 'action'
  | 'secretName'
  | 'ciphertext'
  | 'restoreVersion'
  | 'keepFor'
  | 'deletedSecretId'
  | 'baseVersion'
  | 'proposedByType'
  | 'proposedById'
> & { baseSecretId: string | null }

/** An applied change, as the audit log records it. */
interface Applied {
  action: 'secret.written' | 'secret.restored' | 'secret.deleted' | 'secret.undeleted' | 'secret.purged'
  secretId: string
  metadata: {
    environmentId: string
    name: string
    version: number
    restoredFrom?: number
    resealed?: true
    keptUntil?: string
  }
}

/**
 * A change with the secret that it was proposed for, locked until the transaction ends; undefined if there was none.
 * `deleted` is the deleted secret that the change restores or purges.
 */
interface Based<Of extends Change> {
  change: Of
  secret: StoredSecret | undefined
  deleted: LockedDeleted | undefined
}

/**
 * Locks the secrets of the changes. Returns undefined if one is not the same secret at the same version any more, or if
 * a deleted secret is no longer kept.
 */
export async function lockBases<Of extends Change>(
  db: Tx,
  env: Env,
  changes: readonly Of[],
  now: string,
): Promise<Based<Of>[] | undefined> {
  // Locks the environment before its secrets, as a re-key does, so that the two cannot deadlock.
  await lockEnvironment(db, env, 'no key update')
  const bases: Based<Of>[] = []
  for (const change of changes) {
    const secret = await lockSecret(db, env, change.secretName)
    const isSame = (secret?.id ?? null) === change.baseSecretId && (secret?.currentVersion ?? 0) === change.baseVersion
    if (!isSame && !isPurge(change)) return undefined
    const deleted =
      change.deletedSecretId === null ? undefined : await lockDeleted(db, env, change.deletedSecretId, now)
    if (change.deletedSecretId !== null && !deleted) return undefined
    if (change.action === 'restore' && deleted?.restorable === false) return undefined
    bases.push({ change, secret, deleted })
  }
  return bases
}

/** A purge concerns a deleted secret alone. A secret that has its name again makes no difference. */
const isPurge = ({ action, deletedSecretId }: Change) => action === 'delete' && deletedSecretId !== null

interface Work {
  context: QuotaDeps
  db: Tx
  now: string
  newId: (kind: 'secret') => string
}

/** Applies all changes or none. Returns undefined if another request has just created the secret of the first one. */
export async function applyChanges<Of extends Change>(work: Work, env: Env, bases: readonly Based<Of>[]) {
  const done: (Applied & Pick<Based<Of>, 'change'>)[] = []
  for (const based of bases) {
    const { change, deleted } = based
    const { secretName: name, ciphertext } = change
    const record = deleted && { recordBytes: deleted.recordBytes }
    if (ciphertext !== null)
      await checkEnvironmentQuota(work.context, work.db, env, { name, bytes: ciphertext.length, ...record })
    const applied = deleted
      ? await applyToDeleted(work.db, env, change, deleted, work.now)
      : await applyChange(work.db, env, based, work)
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
  { change, secret }: Pick<Based<Change>, 'change' | 'secret'>,
  { now, newId }: Pick<Work, 'now' | 'newId'>,
): Promise<Applied | undefined> {
  const { secretName: name, baseVersion, restoreVersion, keepFor } = change
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
    const metadata = { ...about, version: secret.currentVersion }
    if (keepFor === null) await deleteSecret(db, env, secret.id)
    const kept = keepFor === null ? undefined : await keepDeleted(db, env, secret.id, { keepFor, author, now })
    return {
      action: 'secret.deleted',
      secretId: secret.id,
      metadata: { ...metadata, ...(kept && { keptUntil: kept.keptUntil }) },
    }
  }
  const old = restoreVersion === null ? undefined : await findVersion(db, env, secret.id, restoreVersion)
  if (restoreVersion === null || !old) throw new Error('versions are only ever added')
  const ciphertext = change.ciphertext ?? old.ciphertext
  const restored = await appendVersion(db, env, secret, { ciphertext, restoredFrom: restoreVersion, author, now })
  const metadata = {
    ...about,
    version: restored.version,
    restoredFrom: restoreVersion,
    ...resealedIf(change.ciphertext !== null),
  }
  return { action: 'secret.restored', secretId: secret.id, metadata }
}

/** Restores or purges a deleted secret. Returns undefined if another request has just created a secret of its name. */
async function applyToDeleted(
  db: Tx,
  env: Env,
  change: Change,
  deleted: LockedDeleted,
  now: string,
): Promise<Applied | undefined> {
  const author = { type: change.proposedByType, id: change.proposedById }
  const about = { environmentId: env.id, name: deleted.name }
  if (change.action === 'delete') {
    await purgeSecret(db, env, deleted)
    return { action: 'secret.purged', secretId: deleted.id, metadata: { ...about, version: deleted.version } }
  }
  const { ciphertext } = change
  if (ciphertext === null) throw new Error('a proposed value is forgotten only when it can no longer be applied')
  const secret = await restoreDeleted(db, env, deleted, { ciphertext, author, now })
  return secret && { action: 'secret.undeleted', secretId: secret.id, metadata: { ...about, version: secret.version } }
}
