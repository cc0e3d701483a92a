import type { deletedSecrets } from '@skerry/contract/secrets/endpoints'
import type { Tx } from '../../db/database.ts'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { purgeSecret, restoreDeleted } from '../../model/secrets/deleted.ts'
import type { Env, InEnv } from '../envs/scope.ts'
import type { SecretsContext } from './context.ts'
import { type LockedDeleted, listDeleted, lockDeleted } from './deleted-store.ts'
import { checkEnvironmentQuota } from './quota-cache.ts'
import type { Deleted } from './scope.ts'
import { conflict, isProtected } from './secrets.ts'
import { findSecret } from './store.ts'

type OnDeleted = InEnv & { deleted: Deleted }

export async function list({
  db,
  env,
  query,
  now,
}: In<typeof deletedSecrets.list, InEnv>): Out<typeof deletedSecrets.list> {
  const cursor = pageFrom(query, 'secret')
  const page = pageOf(await listDeleted(db, env, now, cursor), cursor, (row) => [row.deletedAt, row.id])
  return { deletedSecrets: page.rows, nextCursor: page.nextCursor }
}

/**
 * Restores a deleted secret. The client encrypts its value anew, because clients that saw the secret gone refuse the old
 * ciphertext: a hostile server could bring that back.
 */
export async function restore(
  input: In<typeof deletedSecrets.restore, OnDeleted, SecretsContext>,
): Out<typeof deletedSecrets.restore> {
  const { context, db, env, body, principal, now, audit } = input
  const { ciphertext } = body
  const deleted = await lockRestorable(input, env, input.deleted.id)
  const { id, name, version, recordBytes } = deleted
  await checkEnvironmentQuota(context, db, env, { name, bytes: ciphertext.length, recordBytes })
  if (isProtected(env)) {
    const proposal = { action: 'restore' as const, restoreVersion: version, deletedSecretId: id, ciphertext }
    return context.propose(input, env, { ...proposal, secretName: name, on: undefined })
  }
  const secret = await restoreDeleted(db, env, deleted, { ciphertext, author: principal, now })
  if (!secret) throw conflict(name, 0)
  audit('secret.undeleted', id, { environmentId: env.id, name, version: secret.version })
  return { secret }
}

export async function purge(
  input: In<typeof deletedSecrets.purge, OnDeleted, SecretsContext>,
): Out<typeof deletedSecrets.purge> {
  const { context, db, env, now, audit } = input
  const deleted = await lockKept(db, env, input.deleted.id, now)
  const { id, name, version } = deleted
  if (isProtected(env)) {
    const proposal = { action: 'delete' as const, deletedSecretId: id }
    return context.propose(input, env, { ...proposal, secretName: name, on: undefined })
  }
  await purgeSecret(db, env, deleted)
  audit('secret.purged', id, { environmentId: env.id, name, version })
  return { ok: true }
}

async function lockKept(db: Tx, env: Env, secretId: string, now: string): Promise<LockedDeleted> {
  const deleted = await lockDeleted(db, env, secretId, now)
  if (!deleted) throw fail('not_found', 'no such deleted secret')
  return deleted
}

/** Locks a deleted secret that can be restored now. */
async function lockRestorable(
  { db, now }: { db: Tx; now: string },
  env: Env,
  secretId: string,
): Promise<LockedDeleted> {
  // Locks the environment before its secrets, as a re-key does, so that the two cannot deadlock.
  await lockEnvironment(db, env, 'no key update')
  const deleted = await lockKept(db, env, secretId, now)
  const { name, restorable } = deleted
  if (!restorable)
    throw fail('invalid_request', `${name} was deleted before the environment was re-keyed, so no key opens it`)
  if (await findSecret(db, env, name)) throw conflict(name, 0)
  return deleted
}
