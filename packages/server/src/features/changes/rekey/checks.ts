import { isReader } from '@skerry/contract/grants/readers'
import type { Rekey } from '@skerry/contract/rekey/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../../db/database.ts'
import { fail } from '../../../kernel/errors.ts'
import { lockEnvironment, type Protection } from '../../../model/environments/table.ts'
import type { Env } from '../../envs/scope.ts'
import { type Holder, listBranchIds, listDescribed, lockHolders, lockSecrets } from './store.ts'

export type RekeyBody = Static<typeof Rekey>

interface By {
  type: string
  id: string
}

/** Everything that a re-key replaces, locked until commit. */
export interface Keyed {
  protection: Protection | null
  secrets: { id: string; name: string; currentVersion: number }[]
  holders: Holder[]
  described: { name: string; revision: number }[]
  /** The branches of the environment, or the environment itself if it is one. */
  branches: string[]
}

/**
 * Locks everything that a re-key replaces. New secrets and grants wait for the lock on the environment’s row. Writes wait
 * for the rows that they change.
 */
export async function lockKeyed(db: Tx, env: Env, now: string): Promise<Keyed> {
  const [there, secrets, holders, described, branches] = await Promise.all([
    lockEnvironment(db, env, 'update'),
    lockSecrets(db, env),
    lockHolders(db, env, now),
    listDescribed(db, env),
    listBranchIds(db, env),
  ])
  if (!there) throw fail('not_found', 'no such env')
  return { protection: there.protection, secrets, holders, described, branches }
}

/** Checks what the body says by itself, before anything is locked. */
export function checkBody(body: RekeyBody, by: By): void {
  checkManifests(body)
  checkCiphertexts(body)
  checkGrants(body, by)
  checkDropped(body)
}

/** Requires that the caller has seen everything that the re-key replaces, and holds the key that it replaces. */
export function checkCurrent(env: Env, body: RekeyBody, by: By, keyed: Keyed): void {
  checkVersions(keyed.secrets, body.expectedVersions)
  const stranger = body.manifests?.find(({ environmentId }) => !keyed.branches.includes(environmentId))
  if (stranger) throw fail('conflict', `body.manifests: ${stranger.environmentId} is no branch of this environment`)
  if (body.details) checkDetails(keyed.described, body.details)
  const own = keyed.holders.find((holder) => keyOf(holder) === keyOf(holderOf(by)))
  if (own?.wrappedDek !== env.wrappedDek) throw fail('conflict', 'the key has been replaced in the meantime')
  keptGrants(body, keyed.holders)
  checkReaders(body, keyed.holders)
}

/** Requires a new ciphertext for each secret that is expected, and for no other. */
function checkCiphertexts({ secrets, expectedVersions }: RekeyBody) {
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
function checkGrants(body: RekeyBody, by: By) {
  const seen = new Set<string>()
  for (const [index, grant] of body.grants.entries()) {
    if (seen.has(keyOf(grant)))
      throw fail('invalid_request', `body.grants.${index}: ${grant.principalId} is named twice`)
    seen.add(keyOf(grant))
  }
  if (!seen.has(keyOf(holderOf(by)))) throw fail('invalid_request', 'body.grants: you must keep the key yourself')
}

const holderOf = ({ type, id }: By) => ({ principalType: type, principalId: id })
const keyOf = (grant: { principalType: string; principalId: string }) => `${grant.principalType} ${grant.principalId}`

function checkManifests({ manifests = [] }: RekeyBody) {
  const ids = new Set(manifests.map(({ environmentId }) => environmentId))
  if (ids.size < manifests.length) throw fail('invalid_request', 'body.manifests: names a branch twice')
}

/** A reader either keeps the key or loses it, so it must not be in both lists. */
function checkDropped({ grants, dropReaders = [] }: RekeyBody) {
  const granted = new Set(grants.map(keyOf))
  for (const [index, reader] of dropReaders.entries())
    if (granted.has(keyOf(reader)))
      throw fail('invalid_request', `body.dropReaders.${index}: ${reader.principalId} is in body.grants`)
}

/**
 * Rotation and sync would only fail at their next run, which nobody watches. A client that does not know of them, or
 * that forgot one, gets an error now.
 */
function checkReaders({ grants, dropReaders = [] }: RekeyBody, holders: Holder[]) {
  const named = new Set([...grants, ...dropReaders].map(keyOf))
  for (const holder of holders)
    if (isReader(holder) && !named.has(keyOf(holder)))
      throw fail(
        'conflict',
        `${holder.principalType} ${holder.principalId} reads this environment: name it in body.grants or body.dropReaders`,
      )
}

function checkVersions(secrets: Keyed['secrets'], expected: Record<string, number>) {
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
function checkDetails(described: Keyed['described'], given: NonNullable<RekeyBody['details']>) {
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
export function keptGrants(body: RekeyBody, holders: Holder[]): { id: string; wrappedDek: string }[] {
  const known = new Map(holders.map((holder) => [keyOf(holder), holder]))
  return body.grants.map((grant, index) => {
    const holder = known.get(keyOf(grant))
    if (!holder?.able)
      throw fail('conflict', `body.grants.${index}: ${grant.principalId} holds no key grant here that is of use`)
    return { id: holder.id, wrappedDek: grant.wrappedDek }
  })
}
