import { isReader } from '@skerry/contract/grants/readers'
import type { rekey } from '@skerry/contract/rekey/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { rewrapGrants } from '../../model/grants/write.ts'
import { markLost } from '../../model/secrets/deleted.ts'
import { dropSealedDetails, resealDetails } from '../../model/secrets/details.ts'
import { resealSecrets } from '../../model/secrets/versions.ts'
import { lockOut } from '../../model/teams/write.ts'
import { supersedeAll } from '../changes/notices.ts'
import { toResponse } from '../envs/create.ts'
import type { InEnv } from '../envs/scope.ts'
import { settleRows } from '../offboardings/settled.ts'
import { coverAnew } from '../recovery/covering.ts'
import { type Holder, listDescribed, lockHolders, lockSecrets } from './store.ts'

type Request = In<typeof rekey.run, InEnv>

/**
 * Replaces the key: every current ciphertext and every wrapped key at once, or nothing. The secrets must be exactly
 * what the caller has seen, and stay so until commit. New secrets and grants wait for the lock on the environment’s
 * row. Writes wait for the rows that they change.
 *
 * A re-key writes every value anew, so in a protected environment it would bypass all approvals. There the protection
 * must be removed first, which is mailed to every admin.
 */
export async function run(input: Request): Out<typeof rekey.run> {
  const { db, env, principal, body, now, audit } = input
  checkCiphertexts(body)
  checkGrants(input)
  checkDropped(body)
  const [there, secrets, holders, described] = await Promise.all([
    lockEnvironment(db, env, 'update'),
    lockSecrets(db, env),
    lockHolders(db, env, now),
    listDescribed(db, env),
  ])
  if (!there) throw fail('not_found', 'no such env')
  if (there.protection !== null)
    throw fail(
      'conflict',
      'this environment is protected: take its protection off first, which its admins are mailed about',
    )
  checkVersions(secrets, body.expectedVersions)
  if (body.details) checkDetails(described, body.details)
  const kept = keptGrants(input, holders)
  checkReaders(body, holders)
  const sealed = new Map(body.secrets.map(({ name, ciphertext }) => [name, ciphertext]))
  const resealed = secrets.map(({ id, name }) => ({ id, ciphertext: sealed.get(name) as string }))
  await settleRows(input, env)
  await Promise.all([
    ...resealSecrets(db, env, resealed, { author: principal, now }),
    markLost(db, env),
    body.details ? resealDetails(db, env, body.details) : dropSealedDetails(db, env),
    rewrapGrants(input, env, kept),
    coverAnew(input, env, body.recoveryWrappedDek),
  ])
  await supersedeAll(input, env)
  const keptIds = new Set(kept.map(({ id }) => id))
  const removed = holders.filter(({ id }) => !keptIds.has(id))
  const people = removed.filter(({ principalType, inForce }) => principalType === 'user' && inForce)
  await lockOut(
    db,
    env,
    people.map(({ principalId }) => principalId),
  )
  audit('env.rekeyed', env.id, {
    slug: env.slug,
    secrets: secrets.length,
    grants: kept.length,
    removed: removed.map(({ principalType, principalId }) => ({ principalType, principalId })),
  })
  return { environment: toResponse(env), rekeyedSecrets: secrets.length, grants: kept.length }
}

/** Requires a new ciphertext for each secret that is expected, and for no other. */
function checkCiphertexts({ secrets, expectedVersions }: Request['body']) {
  const names = new Set<string>()
  for (const [index, { name }] of secrets.entries()) {
    if (names.has(name)) throw fail('invalid_request', `body.secrets.${index}: ${name} is named twice`)
    if (!Object.hasOwn(expectedVersions, name))
      throw fail('invalid_request', `body.secrets.${index}: ${name} is not in body.expectedVersions`)
    names.add(name)
  }
  for (const name of Object.keys(expectedVersions))
    if (!names.has(name)) throw fail('invalid_request', `body.secrets: ${name} is missing`)
}

/** Requires each holder once, and the caller among them, so that nobody locks themselves out by mistake. */
function checkGrants({ body, principal }: Request) {
  const seen = new Set<string>()
  for (const [index, grant] of body.grants.entries()) {
    if (seen.has(keyOf(grant)))
      throw fail('invalid_request', `body.grants.${index}: ${grant.principalId} is named twice`)
    seen.add(keyOf(grant))
  }
  if (!seen.has(keyOf({ principalType: principal.type, principalId: principal.id })))
    throw fail('invalid_request', 'body.grants: you must keep the key yourself')
}

const keyOf = (grant: { principalType: string; principalId: string }) => `${grant.principalType} ${grant.principalId}`

/** A reader either keeps the key or loses it, so it must not be in both lists. */
function checkDropped({ grants, dropReaders = [] }: Request['body']) {
  const granted = new Set(grants.map(keyOf))
  for (const [index, reader] of dropReaders.entries())
    if (granted.has(keyOf(reader)))
      throw fail('invalid_request', `body.dropReaders.${index}: ${reader.principalId} is in body.grants`)
}

/**
 * Rotation and sync would only fail at their next run, which nobody watches. A client that does not know of them, or
 * that forgot one, gets an error now.
 */
function checkReaders({ grants, dropReaders = [] }: Request['body'], holders: Holder[]) {
  const named = new Set([...grants, ...dropReaders].map(keyOf))
  for (const holder of holders)
    if (isReader(holder) && !named.has(keyOf(holder)))
      throw fail(
        'conflict',
        `${holder.principalType} ${holder.principalId} reads this environment: name it in body.grants or body.dropReaders`,
      )
}

function checkVersions(secrets: { name: string; currentVersion: number }[], expected: Record<string, number>) {
  const current = new Map(secrets.map(({ name, currentVersion }) => [name, currentVersion]))
  const names = [...new Set([...current.keys(), ...Object.keys(expected)])].sort()
  for (const name of names) {
    const [is, was] = [current.get(name), Object.hasOwn(expected, name) ? expected[name] : undefined]
    if (is === was) continue
    if (is === undefined) throw fail('conflict', `${name} is gone`)
    throw fail('conflict', was === undefined ? `${name} has been added` : `${name} is not at version ${was}`)
  }
}

/** Requires each description that is there, at its revision, so that none is lost by mistake. */
function checkDetails(described: { name: string; revision: number }[], given: NonNullable<Request['body']['details']>) {
  const sealed = new Map(given.map(({ name, expectedRevision }) => [name, expectedRevision]))
  if (sealed.size < given.length) throw fail('invalid_request', 'body.details: names a secret twice')
  const current = new Map(described.map(({ name, revision }) => [name, revision]))
  for (const name of new Set([...current.keys(), ...sealed.keys()]))
    if (current.get(name) !== sealed.get(name)) throw fail('conflict', `the description of ${name} has changed`)
}

/**
 * Returns the grants to wrap again, only of holders who have a grant now and can use it. A re-key does not let in again
 * a holder who lost access since the caller listed the holders.
 */
function keptGrants({ env, body, principal }: Request, holders: Holder[]): { id: string; wrappedDek: string }[] {
  const known = new Map(holders.map((holder) => [keyOf(holder), holder]))
  const own = known.get(keyOf({ principalType: principal.type, principalId: principal.id }))
  if (own?.wrappedDek !== env.wrappedDek) throw fail('conflict', 'the key has been replaced in the meantime')
  return body.grants.map((grant, index) => {
    const holder = known.get(keyOf(grant))
    if (!holder?.able)
      throw fail('conflict', `body.grants.${index}: ${grant.principalId} holds no key grant here that is of use`)
    return { id: holder.id, wrappedDek: grant.wrappedDek }
  })
}
