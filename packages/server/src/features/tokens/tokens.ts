import type { tokens } from '@skerry/contract/tokens/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { noteTokenInUse } from '../../identity/decoy-watch.ts'
import { fail } from '../../kernel/errors.ts'
import { checkedInstant } from '../../kernel/instant.ts'
import { lockMaker } from '../../model/people/made.ts'
import { hideToken, insertToken, registerRestored, renameToken, revokeToken } from '../../model/tokens/write.ts'
import { findEnvOfBody } from '../envs/scope.ts'
import { recordDroppedGrants } from '../kms/grantees.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { Token } from './scope.ts'
import { findRestored, listGrantedEnvironments, listTokens } from './store.ts'

type OnToken = InOrg & { token: Token }

export async function list({ db, org, query }: In<typeof tokens.list, InOrg>): Out<typeof tokens.list> {
  const cursor = pageFrom(query, 'serviceToken')
  const page = pageOf(await listTokens(db, org, cursor), cursor, byCreation)
  return { tokens: page.rows, nextCursor: page.nextCursor }
}

/**
 * Registers a token that the caller made. The values sent here do not work as a token. Only the name can change later.
 */
export async function create(input: In<typeof tokens.create, InOrg>): Out<typeof tokens.create> {
  const { context, db, org, principal, origin, body, now, audit } = input
  checkPublicKey('body.publicKeyJwk', body.publicKeyJwk)
  const expiresAt = body.expiresAt ? checkedInstant(body.expiresAt) : null
  if (expiresAt !== null && expiresAt <= now) throw fail('invalid_request', 'body.expiresAt: must be in the future')
  const environmentId = body.environmentId ?? null
  if (environmentId !== null) {
    const env = await findEnvOfBody(db, org, environmentId, principal, now)
    if (env.applicationId === null)
      throw fail('invalid_request', 'body.environmentId: a token is bound to an environment of an application')
  }
  await lockMaker(db, org, principal)
  const role = body.role ?? 'member'
  const { tokenId: id, tokenHash, publicKeyJwk, name } = body
  const token = await insertToken(db, org, {
    id,
    tokenHash,
    publicKeyJwk,
    name,
    role,
    environmentId,
    expiresAt,
    expiresAtGiven: body.expiresAt ?? null,
    createdBy: principal,
    now,
  })
  if (!token) {
    const registered = await registerAgain(input)
    if (registered) return { token: registered }
    noteTokenInUse(context, { tokenId: id, byOrgId: org.id }, origin)
    throw fail('conflict', 'body.tokenId: is already registered')
  }
  audit('token.created', id, { name, role, environmentId, expiresAt })
  return { token }
}

/** Registers a token from an archive, which lacks only its hash. All else stays, so the token gets no more rights. */
async function registerAgain(input: In<typeof tokens.create, InOrg>) {
  const { db, org, body, audit } = input
  const restored = await findRestored(db, org, body.tokenId)
  if (!restored) return undefined
  if (!isSameKey(restored.publicKeyJwk, body.publicKeyJwk))
    throw fail('conflict', 'body.publicKeyJwk: this token was restored, and had another key')
  const { role = 'member', environmentId = null } = body
  if (role !== restored.role || environmentId !== restored.environmentId)
    throw fail('conflict', `body.role: this token was restored as ${restored.role}, with the environment that it had`)
  const token = await registerRestored(db, org, body.tokenId, body.tokenHash)
  if (token) audit('token.registered', token.id, { name: token.name })
  return token
}

/** Compares the points, because one key can be written in many ways as JSON. */
function isSameKey(one: string, other: string): boolean {
  const [a, b] = [JSON.parse(one), JSON.parse(other)]
  return a.x === b.x && a.y === b.y
}

export async function update({ db, token, body, audit }: In<typeof tokens.update, OnToken>): Out<typeof tokens.update> {
  await renameToken(db, token, body.name)
  audit('token.updated', token.id, { name: body.name })
  return { token: { ...token, name: body.name } }
}

export async function revoke({ db, token, now, audit }: In<typeof tokens.revoke, OnToken>): Out<typeof tokens.revoke> {
  const revoked = await revokeToken(db, token, now)
  if (revoked) {
    // Somebody may have kept the keys, so the entry names the environments.
    const environmentIds = await listGrantedEnvironments(db, token)
    audit('token.revoked', token.id, { name: token.name, environmentIds })
  }
  return { ok: true }
}

/**
 * Hides the token and deletes its key grants. It must be revoked first, so that no token in use vanishes by mistake.
 */
export async function remove(input: In<typeof tokens.delete, OnToken>): Out<typeof tokens.delete> {
  const { db, token, now, audit } = input
  await recordDroppedGrants(input, { principalType: 'service_token', principalId: token.id }, 'token.deleted')
  const hidden = await hideToken(db, token, now)
  if (!hidden) throw fail('conflict', 'revoke the token first')
  audit('token.deleted', token.id, { name: token.name })
  return { ok: true }
}
