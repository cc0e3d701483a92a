import { limits } from '@skerry/contract/limits'
import { emailPattern } from '@skerry/contract/patterns'
import type { vaultPlatform } from '@skerry/contract/vault/platform'
import type { In, Out } from '../../../http/route.ts'
import { newSecret, sha256 } from '../../../kernel/context.ts'
import { endUserDigest } from '../../../kernel/end-user.ts'
import { fail } from '../../../kernel/errors.ts'
import { checkQuota } from '../../billing/quota.ts'
import type { Session } from '../connect/scope.ts'
import { insertSession } from '../connect/store.ts'
import { findConnection } from '../connections/scope.ts'
import { type Executor, findActive } from '../executor/scope.ts'
import { connectionLifecycle, projectLifecycle } from '../lifecycles.ts'
import { lockProject } from '../projects/store.ts'
import { readReturnUrl } from '../urls.ts'
import type { ByPlatform } from './scope.ts'

type Create = In<typeof vaultPlatform.createSession, ByPlatform>

export async function create(input: Create): Out<typeof vaultPlatform.createSession> {
  const { context, db, place, body, now, newId, audit } = input
  const { project, ...link } = await newLink(input, 'vct_')
  projectLifecycle.check(project.status, 'use')
  if (body.purpose !== 'reconnect') await checkQuota(context, db, { id: place.orgId }, 'vault.connections.max')
  const executor = await findActive(db, place)
  if (!executor) throw fail('conflict', 'the project has no active executor: register one in the dashboard')
  const provider = executor.catalog.providers.find(({ id }) => id === body.providerId)
  if (!provider) throw fail('invalid_request', 'body.providerId: is not in the catalog of the executor')
  checkLinked(executor, body.executor)
  const { userRef, purpose = 'connect' } = body
  const connectionId = await connectionIdOf(input)
  const id = newId('vaultSession')
  const { token, ...facts } = link
  const { allowAccountChange = false } = body
  await insertSession(db, place, { id, purpose, userRef, provider, connectionId, allowAccountChange, ...facts, now })
  const userDigest = endUserDigest(place.id, userRef)
  const metadata = { projectId: place.id, purpose, providerId: provider.id, connectionId, userDigest }
  audit('vault.connect_session.created', id, metadata, { orgId: place.orgId })
  return { session: { id, token, expiresAt: link.expiresAt, method: provider.method, connectionId } }
}

/** Refuses a link that names another executor or an unregistered key, because the Connect page would stop at it. */
function checkLinked({ origin, keys }: Executor, linked: Create['body']['executor']): void {
  if (!linked) return
  if (linked.origin !== origin) throw fail('conflict', `body.executor.origin: the registered executor is at ${origin}`)
  if (!keys.some(({ thumbprint }) => thumbprint === linked.thumbprint))
    throw fail('conflict', 'body.executor.thumbprint: the registered executor has no such key')
}

/** Returns a new connection id, or the id of the connection to repair, which must have the same person and provider. */
async function connectionIdOf(input: Create): Promise<string> {
  const { db, place, body, newId } = input
  const { purpose = 'connect', connectionId, userRef, providerId } = body
  if (purpose === 'connect') {
    if (connectionId !== undefined)
      throw fail('invalid_request', 'body.connectionId: is allowed only with the purpose reconnect')
    if (input.body.allowAccountChange !== undefined)
      throw fail('invalid_request', 'body.allowAccountChange: is allowed only with the purpose reconnect')
    return newId('vaultConnection')
  }
  if (connectionId === undefined) throw fail('invalid_request', 'body.connectionId: is required to reconnect')
  const connection = await findConnection(db, place, connectionId)
  if (connection?.userRef !== userRef) throw fail('not_found', 'body.connectionId: no such connection of this user')
  if (connection.providerId !== providerId)
    throw fail('invalid_request', 'body.providerId: the connection is with another provider')
  connectionLifecycle.check(connection.status, 'capture')
  return connectionId
}

type CreateManage = In<typeof vaultPlatform.createManageSession, ByPlatform>

/** Also for a disabled project, so that people can still revoke their connections. */
export async function createManage(input: CreateManage): Out<typeof vaultPlatform.createManageSession> {
  const { db, place, body, now, newId, audit } = input
  const { project: _, token, ...facts } = await newLink(input, 'vmt_')
  const { userRef } = body
  const id = newId('vaultSession')
  const manage = { purpose: 'manage', provider: null, connectionId: null, allowAccountChange: false } as const
  await insertSession(db, place, { id, ...manage, userRef, ...facts, now })
  const metadata = { projectId: place.id, userDigest: endUserDigest(place.id, userRef) }
  audit('vault.manage_session.created', id, metadata, { orgId: place.orgId })
  return { session: { id, token, expiresAt: facts.expiresAt } }
}

/** Prepares the fields that both kinds of link share. */
async function newLink({ db, place, body, now }: Create | CreateManage, prefix: string) {
  const project = await lockProject(db, place)
  if (new RegExp(emailPattern).test(body.userRef))
    throw fail('invalid_request', 'body.userRef: is an e-mail address; use an opaque id of your own')
  const { returnUrl, expiresInSeconds = limits.vaultLinkTtlDefaultSeconds } = body
  const token = prefix + newSecret()
  return {
    project,
    token,
    tokenHash: sha256(token),
    returnUrl:
      returnUrl === undefined ? null : readReturnUrl(returnUrl, project.display.returnOrigins, 'body.returnUrl'),
    expiresAt: new Date(Date.parse(now) + expiresInSeconds * 1000).toISOString(),
  }
}

export async function get({
  session,
}: In<typeof vaultPlatform.session, ByPlatform & { session: Session }>): Out<typeof vaultPlatform.session> {
  return { session: toResponse(session) }
}

/** Omits the id of a connection that does not exist yet, because nobody could look it up. */
function toResponse(session: Session) {
  const { id, purpose, userRef, provider, status, expiresAt, claimedAt, consentedAt, completedAt, createdAt } = session
  const isThere = purpose === 'reconnect' || status === 'completed'
  return {
    id,
    purpose,
    userRef,
    providerId: provider?.id ?? null,
    method: provider?.method ?? null,
    status,
    connectionId: isThere ? session.connectionId : null,
    expiresAt,
    claimedAt,
    consentedAt,
    completedAt,
    createdAt,
  }
}
