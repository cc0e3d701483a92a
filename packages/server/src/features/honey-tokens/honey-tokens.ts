import type { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { noteTokenInUse } from '../../identity/decoy-watch.ts'
import { fail } from '../../kernel/errors.ts'
import { deleteDeadToken, insertDeadToken } from '../../model/tokens/write.ts'
import type { InOrg } from '../orgs/scope.ts'
import { closeMinute } from './minutes.ts'
import type { HoneyToken } from './scope.ts'
import { insertHoneyToken, listHoneyTokens } from './store.ts'
import { recordTrips } from './trips.ts'

/** Records earlier uses first, so that an admin who looks here after an alarm finds the use that caused it. */
export async function list(input: In<typeof honeyTokens.list, InOrg>): Out<typeof honeyTokens.list> {
  const { context, db, org, query } = input
  await recordTrips(context)
  const cursor = pageFrom(query, 'honeyToken')
  const page = pageOf(await listHoneyTokens(db, org, cursor), cursor, byCreation)
  return { honeyTokens: page.rows, nextCursor: page.nextCursor }
}

/** The caller made the decoy, as it makes tokens. A registered decoy never works as a token. */
export async function create(input: In<typeof honeyTokens.create, InOrg>): Out<typeof honeyTokens.create> {
  const { context, db, org, principal, origin, body, now, newId, audit } = input
  const { tokenId, tokenHash } = body
  const placement = body.placement ?? null
  const free = await insertDeadToken(db, org, { id: tokenId, tokenHash, createdBy: principal, now })
  if (!free) {
    noteTokenInUse(context, { tokenId, byOrgId: org.id }, origin)
    throw fail('conflict', 'body.tokenId: is already registered')
  }
  const honeyToken = await insertHoneyToken(db, org, { id: newId('honeyToken'), tokenId, placement, now })
  audit('honey_token.created', honeyToken.id, { tokenId, placement })
  return { honeyToken }
}

type OnHoneyToken = InOrg & { honeyToken: HoneyToken }

export async function remove(input: In<typeof honeyTokens.delete, OnHoneyToken>): Out<typeof honeyTokens.delete> {
  const { context, db, org, honeyToken, audit } = input
  const { id, tokenId, placement, tripCount } = honeyToken
  await closeMinute(context, db, { orgId: org.id, id })
  const deleted = await deleteDeadToken(db, org, tokenId)
  if (!deleted) throw fail('not_found', 'no such honey token')
  audit('honey_token.deleted', id, { tokenId, placement, tripCount })
  return { ok: true }
}
