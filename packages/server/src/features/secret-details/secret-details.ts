import { limits } from '@skerry/contract/limits'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import type { Tx } from '../../db/database.ts'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { checkedInstant } from '../../kernel/instant.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { lockMember } from '../../model/people/memberships.ts'
import { type DetailsRow, deleteDetails, type Noted, writeDetails } from '../../model/secrets/details.ts'
import type { Env, InEnv } from '../envs/scope.ts'
import { countDetails, findDetails, listDetails } from './store.ts'

export async function list({ db, env, query }: In<typeof secretDetails.list, InEnv>): Out<typeof secretDetails.list> {
  const cursor = pageFrom(query, 'details')
  const after = { ...cursor, id: cursor.id?.slice(1) ?? null }
  const page = pageOf(await listDetails(db, env, after), cursor, (row) => [row.updatedAt, `.${row.name}`])
  return { details: page.rows, nextCursor: page.nextCursor }
}

const nothing: Noted = { sealed: null, ownerId: null, expiresAt: null, notNeeded: false }

/** Programs read nothing of this, so a protected environment needs no approval for it. */
export async function update(input: In<typeof secretDetails.update, InEnv>): Out<typeof secretDetails.update> {
  const { db, env, params, body, principal, now, audit } = input
  const { name } = params
  if (!(await lockEnvironment(db, env, 'no key update'))) throw fail('not_found', 'no such env')
  const row = await findDetails(db, env, name)
  const { expectedRevision, ...given } = body
  if (expectedRevision !== undefined && expectedRevision !== (row?.revision ?? 0))
    throw fail('conflict', `the details of ${name} are not at revision ${expectedRevision}`)
  const before = row ?? nothing
  const expiresAt = given.expiresAt == null ? given.expiresAt : checkedInstant(given.expiresAt)
  // A client that sends all fields again may send a date that has passed since.
  if (expiresAt != null && expiresAt !== before.expiresAt && expiresAt <= now)
    throw fail('invalid_request', 'body.expiresAt: must be in the future')
  const after: Noted = { ...pick(before), ...given, ...(expiresAt !== undefined && { expiresAt }) }
  if (isSame(before, after)) return { details: row ?? null }
  await checkOwner(db, env, given.ownerId)
  const isEmpty = isSame(after, nothing)
  if (!row && !isEmpty) await checkQuota(db, env)
  const details = isEmpty ? null : await writeDetails(db, env, name, after, { author: principal, now })
  if (isEmpty) await deleteDetails(db, env, name)
  audit('secret.described', env.id, { environmentId: env.id, name })
  return { details }
}

const pick = ({ sealed, ownerId, expiresAt, notNeeded }: Noted | DetailsRow): Noted => ({
  sealed,
  ownerId,
  expiresAt,
  notNeeded,
})

const isSame = (one: Noted, other: Noted) => JSON.stringify(pick(one)) === JSON.stringify(pick(other))

async function checkOwner(db: Tx, env: Env, ownerId: string | null | undefined): Promise<void> {
  if (ownerId != null && !(await lockMember(db, { id: env.orgId }, ownerId, 'key share')))
    throw fail('invalid_request', 'body.ownerId: is not a member of the organization')
}

/** A re-key must encrypt every description of an environment in one request. */
async function checkQuota(db: Tx, env: Env): Promise<void> {
  const noted = await countDetails(db, env)
  if (noted >= limits.rekeySecretsMax)
    throw fail(
      'quota_exceeded',
      `the environment has details of ${noted} names, and may have ${limits.rekeySecretsMax}`,
    )
}
