import type { ErrorCode } from '@skerry/contract/errors'
import type { vaultExecutor } from '@skerry/contract/vault/executor'
import type { VaultSlot } from '@skerry/contract/vault/facts'
import { vaultMethods } from '@skerry/contract/vault/facts'
import type { In, Out } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { ExecutorPrincipal } from '../../../kernel/principal.ts'
import { quotaWords } from '../../billing/quota.ts'
import { checkLive } from '../connect/capture.ts'
import { revokeConnection } from '../connections/connections.ts'
import { type OnConnection, toResponse } from '../connections/scope.ts'
import { lockConnection, moveConnection, putCredential, reread } from '../connections/store.ts'
import { connectionLifecycle, projectLifecycle } from '../lifecycles.ts'
import { findReleasable, listSlotKeys } from './release-store.ts'
import type { ByExecutor } from './scope.ts'

type Release = In<typeof vaultExecutor.release, { principal: ExecutorPrincipal }>

/**
 * Ciphertext leaves the server only here. Every release is counted. The audit log has each refusal of this function, but
 * not the refusals before it, for example of a bearer or of an executor that is not active.
 */
export async function release(input: Release): Out<typeof vaultExecutor.release> {
  const { context, db, principal, params } = input
  const { orgId, projectId } = principal
  const found = await findReleasable(db, principal, params.vaultConnectionId, params.slot)
  if (!found) throw denied(input, 'not_found', 'no such connection')
  if (projectLifecycle.next(found.projectStatus, 'use') === undefined)
    throw denied(input, 'forbidden', `the project is ${found.projectStatus}`)
  if (connectionLifecycle.next(found.status, 'release') === undefined)
    throw denied(input, 'forbidden', `the connection is ${found.status}`)
  if (found.revision === null) throw denied(input, 'forbidden', 'the connection has nothing in this slot')
  if (!found.own) throw denied(input, 'forbidden', 'it is wrapped to a key that this executor has not registered')
  const over = context.meter.over('vault.releases', orgId)
  if (over) throw denied(input, 'quota_exceeded', quotaWords('vault.releases', over.included, over.used))
  context.meter.countRelease(orgId)
  context.lastUsed.noteVault({ orgId, id: params.vaultConnectionId }, context.now().getTime())
  const { providerId, revision, ciphertext, wrappedDek, keyThumbprint } = found
  const place = { projectId, connectionId: params.vaultConnectionId, providerId, slot: params.slot as VaultSlot }
  return { credential: { ...place, revision, ciphertext, wrappedDek, keyThumbprint } }
}

function denied({ principal, params }: Release, code: ErrorCode, reason: string) {
  const { orgId, projectId } = principal
  const { vaultConnectionId: resourceId, slot } = params
  const metadata = { projectId, slot, reason }
  return fail(code, reason, { denial: { orgId, action: 'vault.credential.release_denied', resourceId, metadata } })
}

type On = ByExecutor & OnConnection

/** Compare-and-swap: of two simultaneous refreshes, the second is refused with the current revision. */
export async function writeBack(input: In<typeof vaultExecutor.writeBack, On>): Out<typeof vaultExecutor.writeBack> {
  const { db, executor, params, body, now, audit } = input
  const slot = params.slot as VaultSlot
  const connection = await lockConnection(db, input.connection)
  connectionLifecycle.check(connection.status, 'write')
  const slots: readonly string[] = vaultMethods[connection.method]
  if (!slots.includes(slot)) throw fail('not_found', 'the connection has no such slot')
  const { expectedRevision, ...sealed } = body
  checkLive(sealed.keyThumbprint, executor.keys, 'body.keyThumbprint')
  const current = connection.slots.find((one) => one.slot === slot)?.revision ?? 0
  if (current !== expectedRevision) throw fail('conflict', `the current revision is ${current}`)
  const revision = current + 1
  await putCredential(db, connection, { slot, revision, ...sealed }, now)
  const { orgId, projectId } = executor
  audit('vault.credential.written', connection.id, { projectId, slot, revision }, { orgId })
  return { slot, revision }
}

export async function get({
  db,
  connection,
}: In<typeof vaultExecutor.connection, On>): Out<typeof vaultExecutor.connection> {
  return { connection: toResponse(connection), keys: await listSlotKeys(db, connection) }
}

export async function setStatus(input: In<typeof vaultExecutor.setStatus, On>): Out<typeof vaultExecutor.setStatus> {
  const { db, body, now, audit, emit } = input
  const { status, reason = null } = body
  const breaks = status === 'reauth_required'
  if (breaks && reason === null) throw fail('invalid_request', 'body.reason: is required with reauth_required')
  if (!breaks && reason !== null) throw fail('invalid_request', 'body.reason: is allowed only with reauth_required')
  const before = await lockConnection(db, input.connection)
  connectionLifecycle.check(before.status, breaks ? 'require_reauth' : 'reactivate')
  await moveConnection(db, before, { status, reason, now })
  const connection = await reread(db, before)
  const { orgId, projectId } = connection
  const action = breaks ? 'vault.connection.reauth_required' : 'vault.connection.reactivated'
  audit(action, connection.id, { projectId, providerId: connection.providerId, reason }, { orgId })
  const event = breaks ? 'vault.connection.reauth_required' : 'vault.connection.ready'
  await emit(event, { projectId, connection: toResponse(connection) }, orgId)
  return { connection: toResponse(connection) }
}

/** The executor revokes on behalf of the product, so the revocation is recorded as by `platform`. */
export async function revoke(input: In<typeof vaultExecutor.revoke, On>): Out<typeof vaultExecutor.revoke> {
  return { connection: toResponse(await revokeConnection(input, input.connection, 'platform')) }
}
