import { limits } from '@skerry/contract/limits'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import type { Secret } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import { pageFrom, pageOf } from '../../http/page.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment, type Protection } from '../../model/environments/table.ts'
import { appendVersion, deleteSecret } from '../../model/secrets/versions.ts'
import { type WrittenRow, writeSecret } from '../../model/secrets/write.ts'
import type { Env, InEnv } from '../envs/scope.ts'
import type { SecretsContext } from './context.ts'
import { keepDeleted } from './keep.ts'
import { checkEnvironmentQuota } from './quota-cache.ts'
import { findFormerNames, findSecret, findVersion, listSecrets, listVersions, lockSecret } from './store.ts'

export async function list({ db, env, query }: In<typeof secrets.list, InEnv>): Out<typeof secrets.list> {
  const cursor = pageFrom(query, 'secret')
  const page = pageOf(await listSecrets(db, env, cursor), cursor, (row) => [row.createdAt, row.id])
  return { secrets: page.rows, nextCursor: page.nextCursor }
}

/**
 * Appends a version. With `expectedVersion`, the write succeeds only on that version, so that two people who edit at
 * once do not overwrite each other. `writeBatch` checks the same conditions as this function and the access rule of its
 * route.
 */
export async function put(input: In<typeof secrets.put, InEnv, SecretsContext>): Out<typeof secrets.put> {
  const { context, db, env, params, body, principal, now, newId, audit } = input
  await checkEnvironmentQuota(context, db, env, { name: params.name, bytes: body.ciphertext.length })
  if (isProtected(env)) {
    const on = await findSecret(db, env, params.name)
    if (body.expectedVersion !== undefined && body.expectedVersion !== (on?.currentVersion ?? 0))
      throw conflict(params.name, body.expectedVersion)
    return context.propose(input, env, { action: 'put', secretName: params.name, on, ciphertext: body.ciphertext })
  }
  const written = await writeSecret(db, env, {
    newId: newId('secret'),
    name: params.name,
    ciphertext: body.ciphertext,
    expectedVersion: body.expectedVersion ?? null,
    author: principal,
    now,
  })
  // If the secret was deleted between the check and the write, it starts again at version 1, which was not expected
  // either.
  const expected = body.expectedVersion
  if (!written || (expected !== undefined && written.version !== expected + 1)) throw conflict(params.name, expected)
  audit('secret.written', written.id, { environmentId: env.id, name: written.name, version: written.version })
  return writtenReply(written, body.ciphertext)
}

/** Builds the response to a write, whether it was made alone or in a group. */
export function writtenReply(written: WrittenRow, ciphertext: string): Reply<{ secret: Static<typeof Secret> }> {
  const { id, environmentId, name, version, createdAt, updatedAt } = written
  const secret = { id, environmentId, name, ciphertext, version, createdAt, updatedAt }
  return new Reply(version === 1 ? 201 : 200, { secret })
}

/** The error for a write whose secret does not have the expected version. */
export const conflict = (name: string, expected: number | undefined) =>
  fail('conflict', expected === 0 ? `${name} exists already` : `${name} is not at version ${expected}`)

export async function versions(input: In<typeof secrets.versions, InEnv>): Out<typeof secrets.versions> {
  const { db, env, params, query } = input
  const secret = await getSecret(db, env, params.name)
  const cursor = pageFrom(query, 'version', limits.versionsDefault)
  const page = pageOf(await listVersions(db, env, secret.id, cursor), cursor, (row) => [
    row.createdAt,
    String(row.version),
  ])
  const { currentVersion, keySinceVersion } = secret
  const formerNames = await findFormerNames(db, env, secret.id)
  return { versions: page.rows, currentVersion, keySinceVersion, formerNames, nextCursor: page.nextCursor }
}

/**
 * Appends a stored ciphertext as a new version, byte for byte. A version from before a rename opens under its former name
 * alone, so the client encrypts its value anew.
 */
export async function restore(input: In<typeof secrets.restore, InEnv, SecretsContext>): Out<typeof secrets.restore> {
  const { context, db, env, params, body, principal, now, audit } = input
  // Locks the environment before its secrets, as a re-key does, so that the two cannot deadlock.
  await lockEnvironment(db, env, 'no key update')
  const secret = await lockedSecret(db, env, params.name, body.expectedVersion)
  const old = await findVersion(db, env, secret.id, body.version)
  if (!old) throw fail('not_found', `${params.name} has no version ${body.version}`)
  if (body.version < secret.keySinceVersion)
    throw fail('invalid_request', `${params.name} version ${body.version} is from before the environment was re-keyed`)
  const current = await findVersion(db, env, secret.id, secret.currentVersion)
  if (current?.ciphertext === old.ciphertext)
    throw fail('invalid_request', `${params.name} already has exactly that value`)
  checkSealing(input, old.formerName)
  const ciphertext = body.ciphertext ?? old.ciphertext
  await checkEnvironmentQuota(context, db, env, { name: params.name, bytes: ciphertext.length })
  if (isProtected(env)) {
    const proposal = { action: 'restore' as const, restoreVersion: body.version }
    const resealed = body.ciphertext === undefined ? {} : { ciphertext: body.ciphertext }
    return context.propose(input, env, { ...proposal, ...resealed, secretName: params.name, on: secret })
  }
  const restored = await appendVersion(db, env, secret, {
    ciphertext,
    restoredFrom: body.version,
    author: principal,
    now,
  })
  audit('secret.restored', secret.id, {
    environmentId: env.id,
    name: params.name,
    version: restored.version,
    restoredFrom: body.version,
    ...resealedIf(body.ciphertext !== undefined),
  })
  return { secret: restored, restoredFrom: body.version }
}

/** Marks the entry of a restore whose ciphertext came from the client and not from the history. */
export const resealedIf = (isResealed: boolean): { resealed?: true } => (isResealed ? { resealed: true } : {})

/** A restore takes a ciphertext only for a version from before a rename, and only from a caller with the key. */
function checkSealing(
  { params, body, env }: Pick<In<typeof secrets.restore, InEnv>, 'params' | 'body' | 'env'>,
  formerName: string | null,
): void {
  const version = `${params.name} version ${body.version}`
  if (formerName === null && body.ciphertext !== undefined)
    throw fail('invalid_request', `leave out body.ciphertext: ${version} has the present name`)
  if (formerName === null) return
  if (body.ciphertext === undefined)
    throw fail(
      'invalid_request',
      `${version} was encrypted under the name ${formerName}: restore it with a client that encrypts it anew`,
    )
  if (env.wrappedDek === null) throw fail('forbidden', 'you hold no key grant on this environment')
}

export async function remove(input: In<typeof secrets.delete, InEnv, SecretsContext>): Out<typeof secrets.delete> {
  const { context, db, env, params, query, body, principal, now, audit } = input
  const { keepFor } = query
  const expected = query.expectedVersion ?? body.expectedVersion
  if (expected !== (body.expectedVersion ?? expected))
    throw fail('invalid_request', 'body.expectedVersion: differs from query.expectedVersion')
  // Locks the environment before its secrets, as a re-key does, so that the two cannot deadlock.
  if (keepFor !== undefined) await lockEnvironment(db, env, 'no key update')
  const secret = await lockedSecret(db, env, params.name, expected)
  if (isProtected(env)) {
    const proposal = { action: 'delete' as const, ...(keepFor !== undefined && { keepFor }) }
    return context.propose(input, env, { ...proposal, secretName: params.name, on: secret })
  }
  const about = { environmentId: env.id, name: params.name, version: secret.currentVersion }
  if (keepFor === undefined) {
    await deleteSecret(db, env, secret.id)
    audit('secret.deleted', secret.id, about)
    return { ok: true }
  }
  const deletedSecret = await keepDeleted(db, env, secret.id, { author: principal, now, keepFor })
  audit('secret.deleted', secret.id, { ...about, keptUntil: deletedSecret.keptUntil })
  return { ok: true, deletedSecret }
}

export const isProtected = (env: Env): env is Env & { protection: Protection } => env.protection !== null

async function getSecret(db: Parameters<typeof findSecret>[0], env: InEnv['env'], name: string) {
  const secret = await findSecret(db, env, name)
  if (!secret) throw fail('not_found', 'no such secret')
  return secret
}

/** Locks the secret until this transaction ends, so that the expected version stays the current one. */
export async function lockedSecret(
  db: Parameters<typeof lockSecret>[0],
  env: InEnv['env'],
  name: string,
  expectedVersion: number | undefined,
) {
  const secret = await lockSecret(db, env, name)
  if (!secret && expectedVersion) throw conflict(name, expectedVersion)
  if (!secret) throw fail('not_found', 'no such secret')
  if (expectedVersion !== undefined && expectedVersion !== secret.currentVersion) throw conflict(name, expectedVersion)
  return secret
}
