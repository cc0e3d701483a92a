import type { Answer } from '@skerry/contract/endpoint'
import type { recovery as endpoints } from '@skerry/contract/recovery/endpoints'
import type { Sql, Tx } from '../../db/database.ts'
import { pageFrom, pageOf } from '../../http/page.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import type { Metadata } from '../../kernel/audit.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironments } from '../../model/environments/table.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import { cancelOpen } from './request-store.ts'
import { type Custodian, findRecovery, type InRecovery } from './scope.ts'
import {
  deleteRecovery,
  insertCustodians,
  insertRecovery,
  type KeyAndShares,
  listCoverage,
  listCustodians,
  listGrants,
  lockKeyedMembers,
  lockRecovery,
  replaceRecovery,
  upsertGrants,
} from './store.ts'

type Configured = Answer<typeof endpoints.get>

export const get = ({ db, org, now }: In<typeof endpoints.get, InOrg>): Out<typeof endpoints.get> =>
  configured(db, org, now)

async function configured(db: Sql, org: Org, now: string): Promise<Configured> {
  const [found, custodians, environments] = await Promise.all([
    findRecovery(db, org),
    listCustodians(db, org),
    listCoverage(db, org, now),
  ])
  const idsOf = (isCovered: boolean) => environments.filter((one) => one.isCovered === isCovered).map(({ id }) => id)
  const protectedEnvIds = idsOf(true)
  const coverage = {
    protected: protectedEnvIds.length,
    total: environments.length,
    protectedEnvIds,
    unprotectedEnvIds: idsOf(false),
    custodiansGone: found ? found.shares - custodians.length : 0,
  }
  if (!found) return { recovery: null, coverage }
  const { shares, ...facts } = found
  return { recovery: { ...facts, custodians }, coverage }
}

export async function publicKey({ db, org }: In<typeof endpoints.publicKey, InOrg>): Out<typeof endpoints.publicKey> {
  return { recoveryPublicKeyJwk: (await findRecovery(db, org))?.recoveryPublicKeyJwk ?? null }
}

export async function enable(input: In<typeof endpoints.enable, InOrg>): Out<typeof endpoints.enable> {
  const { db, org, body, now, audit } = input
  await check(input)
  if (!(await insertRecovery(db, org, body, now)))
    throw fail('conflict', 'recovery is already set up; rotate it instead')
  await insertCustodians(db, org, body.shares)
  await upsertGrants(db, org, body.grants, now)
  audit('recovery.enabled', org.id, factsOf(body))
  return configured(db, org, now)
}

/** Open requests belong to the old key, so they are cancelled: their shares would not fit together with new ones. */
export async function rotate(input: In<typeof endpoints.rotate, InRecovery>): Out<typeof endpoints.rotate> {
  const { db, org, body, now, audit } = input
  await check(input)
  if (!(await replaceRecovery(db, org, body, now))) throw fail('not_found', 'recovery is not set up')
  await insertCustodians(db, org, body.shares)
  await upsertGrants(db, org, body.grants, now)
  audit('recovery.rotated', org.id, factsOf(body))
  await cancelRequests(input, 'recovery.rotated')
  return configured(db, org, now)
}

export async function disable(input: In<typeof endpoints.disable, InRecovery>): Out<typeof endpoints.disable> {
  const { db, org, audit } = input
  if (!(await deleteRecovery(db, org))) throw fail('not_found', 'recovery is not set up')
  audit('recovery.disabled', org.id)
  await cancelRequests(input, 'recovery.disabled')
  return { ok: true }
}

type Audit = (action: 'recovery_request.cancelled', id: string, metadata: Metadata) => void

async function cancelRequests({ db, org, audit }: { db: Tx; org: Org; audit: Audit }, cause: string): Promise<void> {
  for (const { id } of await cancelOpen(db, org)) audit('recovery_request.cancelled', id, { cause })
}

export async function cover(input: In<typeof endpoints.cover, InRecovery>): Out<typeof endpoints.cover> {
  const { db, org, body, now, audit } = input
  if (!(await lockRecovery(db, org))) throw fail('not_found', 'recovery is not set up')
  await checkGrants(input)
  await upsertGrants(db, org, body.grants, now)
  if (body.grants.length > 0)
    audit('recovery.environments_covered', org.id, { environmentIds: body.grants.map((one) => one.environmentId) })
  return configured(db, org, now)
}

export async function share(
  input: In<typeof endpoints.share, InRecovery & { custodian: Custodian }>,
): Out<typeof endpoints.share> {
  const { shareIndex, wrappedShare } = input.custodian
  const { threshold, recoveryPublicKeyJwk } = input.recovery
  return { share: { shareIndex, wrappedShare, threshold, recoveryPublicKeyJwk } }
}

/** The wrapped keys are useful only with the recovery key, which no machine has before enough custodians contribute. */
export async function envKeys({
  db,
  org,
  query,
  now,
}: In<typeof endpoints.envKeys, InOrg>): Out<typeof endpoints.envKeys> {
  const cursor = pageFrom(query, 'environment')
  const page = pageOf(await listGrants(db, org, now, cursor), cursor, (row) => [row.createdAt, row.id])
  const grants = page.rows.map(({ id: environmentId, wrappedDek }) => ({ environmentId, wrappedDek }))
  return { grants, nextCursor: page.nextCursor }
}

const factsOf = ({ threshold, shares, grants }: KeyAndShares) => ({
  threshold,
  custodians: shares.map(({ userId }) => userId),
  environments: grants.length,
})

interface Proposed {
  db: Tx
  org: Org
  body: KeyAndShares
  now: string
}

/**
 * The server knows nothing of the content of shares. It checks who holds them, and that the threshold can be reached.
 */
async function check(input: Proposed): Promise<void> {
  const { db, org, body } = input
  const { recoveryPublicKeyJwk, threshold, shares } = body
  checkPublicKey('body.recoveryPublicKeyJwk', recoveryPublicKeyJwk)
  if (threshold > shares.length)
    throw fail('invalid_request', `body.threshold: ${threshold} is more than the ${shares.length} custodians`)
  const members = await lockKeyedMembers(
    db,
    org,
    shares.map(({ userId }) => userId),
  )
  const seen = { users: new Set<string>(), indexes: new Set<number>() }
  for (const [index, { userId, shareIndex }] of shares.entries()) {
    if (seen.users.has(userId)) throw fail('invalid_request', `body.shares.${index}: ${userId} is named twice`)
    if (seen.indexes.has(shareIndex))
      throw fail('invalid_request', `body.shares.${index}: share ${shareIndex} is named twice`)
    if (!members.has(userId))
      throw fail('invalid_request', `body.shares.${index}: ${userId} is not a member who has uploaded keys`)
    seen.users.add(userId)
    seen.indexes.add(shareIndex)
  }
  await checkGrants(input)
}

async function checkGrants({ db, org, body, now }: Omit<Proposed, 'body'> & { body: Pick<KeyAndShares, 'grants'> }) {
  const ids = body.grants.map(({ environmentId }) => environmentId)
  const there = await lockEnvironments(db, org.id, ids, now)
  const seen = new Set<string>()
  for (const [index, environmentId] of ids.entries()) {
    if (seen.has(environmentId)) throw fail('invalid_request', `body.grants.${index}: ${environmentId} is named twice`)
    if (!there.has(environmentId)) throw fail('invalid_request', `body.grants.${index}: no such env`)
    seen.add(environmentId)
  }
}
