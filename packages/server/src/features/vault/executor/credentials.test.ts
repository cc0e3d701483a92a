import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { expect, test } from 'vitest'
import { openTenant } from '../../../../test/scene.ts'
import { auditRows } from '../../../../test/state.ts'
import { until } from '../../../../test/until.ts'
import {
  consented,
  newCode,
  newConnection,
  newConnectionOf,
  newExecutor,
  newVault,
  newWrappingKey,
  oauth,
  sealed,
  sent,
  type Vault,
} from '../../../../test/vault-scene.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)
const { orgId } = tenant

const release = (vaultConnectionId: string, { executor }: Pick<Vault, 'executor'> = vault, slot = 'api_key') =>
  world.call(vaultExecutor.release, { as: executor.as, params: { vaultConnectionId, slot } })
const writeBack = (vaultConnectionId: string, expectedRevision: number, more: object = {}, slot = 'oauth2') =>
  world.call(vaultExecutor.writeBack, {
    as: vault.executor.as,
    params: { vaultConnectionId, slot },
    body: { expectedRevision, ...sealed(vault), ...more },
  })
const setStatus = (vaultConnectionId: string, body: object) =>
  world.call(vaultExecutor.setStatus, { as: vault.executor.as, params: { vaultConnectionId }, body: { ...body } })

/** Expects a refusal with this message, and the same reason in the audit log. */
async function expectDenied(answer: ReturnType<typeof release>, status: number, message: string): Promise<void> {
  const { error, ...rest } = await answer
  expect([rest.status, error?.message]).toEqual([status, message])
  const denials = (await auditRows(world)).filter(({ action }) => action === 'vault.credential.release_denied')
  expect(denials.at(-1)).toMatchObject({ orgId, actorType: 'vault_executor', metadata: { reason: message } })
}

test('an executor reads a credential as it was stored; the server counts the release and records the last use', async () => {
  const connectionId = await newConnection(world, vault)
  const { credential } = (await release(connectionId)).body
  const stored = await world.server.context.db.row<object>(
    'select ciphertext, wrapped_dek, key_thumbprint from vault_credentials where connection_id = $1',
    [connectionId],
  )
  const place = { projectId: vault.projectId, connectionId, providerId: 'acme', slot: 'api_key', revision: 1 }
  expect(credential).toEqual({ ...place, ...stored })
  const params = { vaultConnectionId: connectionId }
  await until('its use is noted', async () => {
    const { connection } = await sent(world, vaultExecutor.connection, { as: vault.executor.as, params })
    return connection.lastUsedAt !== null && connection.userRef === 'user-1'
  })
  await world.server.context.meter.flush()
  const counted = `select quantity from usage_counts where org_id = $1 and metric = 'vault.releases'`
  expect(await world.server.context.db.row(counted, [orgId])).toEqual({ quantity: 1 })
})

test('the server refuses and logs a release unless the connection is active, in this project, and wrapped to this executor', async () => {
  const connectionId = await newConnection(world, vault)
  const other = await newVault(world, tenant)
  await expectDenied(release(connectionId, other), 404, 'no such connection')
  await expectDenied(release(connectionId, vault, 'login'), 403, 'the connection has nothing in this slot')
  const params = { orgId, projectId: vault.projectId }
  const as = tenant.admin.as
  await sent(world, vaultProjects.update, { as, params, body: { status: 'disabled' } })
  await expectDenied(release(connectionId), 403, 'the project is disabled')
  await sent(world, vaultProjects.update, { as, params, body: { status: 'active' } })
  await setStatus(connectionId, { status: 'reauth_required', reason: 'reauth_requested' })
  await expectDenied(release(connectionId), 403, 'the connection is reauth_required')
  await setStatus(connectionId, { status: 'active' })
  expect((await release(connectionId)).status).toBe(200)
  await sent(world, vaultExecutor.revoke, { as: vault.executor.as, params: { vaultConnectionId: connectionId } })
  await expectDenied(release(connectionId), 403, 'the connection is revoked')
})

test('a new executor can read only credentials that are wrapped to a key that it registered too', async () => {
  const own = await newVault(world, tenant)
  const before = await newConnection(world, own)
  const params = { orgId, projectId: own.projectId }
  const replace = async (key?: ReturnType<typeof newWrappingKey>) => {
    await sent(world, vaultProjects.disableExecutor, { as: tenant.admin.as, params })
    return { executor: await newExecutor(world, await newCode(world, tenant, own.projectId, own.person), key) }
  }
  expect((await release(before, own)).status).toBe(200)
  const stranger = await replace()
  expect((await release(before, own)).status).toBe(401)
  await expectDenied(release(before, stranger), 403, 'it is wrapped to a key that this executor has not registered')
  const heir = await replace(own.executor.key)
  expect((await release(before, heir)).status).toBe(200)
  await sent(world, vaultExecutor.addKey, { as: heir.executor.as, body: { wrappingKey: newWrappingKey() } })
  expect((await release(before, heir)).status).toBe(200)
})

test('only one of two simultaneous write-backs succeeds; the current and the previous revision are kept', async () => {
  const connectionId = await newConnectionOf(world, vault, oauth)
  const both = await Promise.all([writeBack(connectionId, 1), writeBack(connectionId, 1)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(both.find(({ status }) => status === 409)?.error?.message).toBe('the current revision is 2')
  expect((await writeBack(connectionId, 2)).body).toEqual({ slot: 'oauth2', revision: 3 })
  const kept = await world.server.context.db.rows<{ revision: number }>(
    'select revision from vault_credentials where connection_id = $1 order by revision',
    [connectionId],
  )
  expect(kept.map(({ revision }) => revision)).toEqual([2, 3])
})

test('the server refuses a write-back to an unknown key, to a slot of another method, and after a revocation', async () => {
  const connectionId = await newConnectionOf(world, vault, oauth)
  const foreign = { keyThumbprint: newWrappingKey().thumbprint }
  expect((await writeBack(connectionId, 1, foreign)).error?.message).toContain('is not a live key of the executor')
  expect((await writeBack(connectionId, 0, {}, 'session')).status).toBe(404)
  await setStatus(connectionId, { status: 'reauth_required', reason: 'refresh_outcome_unknown' })
  expect((await writeBack(connectionId, 1)).body.revision).toBe(2)
  const params = { vaultConnectionId: connectionId }
  await sent(world, vaultPlatform.revoke, { as: vault.platform.as, params })
  expect((await writeBack(connectionId, 2)).error?.message).toBe('the connection is revoked')
})

test('revoking a connection deletes its credentials and cancels the session that would repair it', async () => {
  const connectionId = await newConnection(world, vault)
  const { id } = await consented(world, vault, { purpose: 'reconnect', connectionId })
  const params = { vaultConnectionId: connectionId, connectSessionId: id }
  const { as } = vault.platform
  for (const _ of [1, 2])
    expect((await sent(world, vaultPlatform.revoke, { as, params })).connection).toMatchObject({
      ...{ status: 'revoked', revokedBy: 'platform', slots: [] },
    })
  expect((await sent(world, vaultPlatform.session, { as, params })).session.status).toBe('cancelled')
  const left = 'select 1 from vault_credentials where connection_id = $1'
  expect(await world.server.context.db.row(left, [connectionId])).toBeUndefined()
  const entries = (await auditRows(world)).filter(({ resourceId }) => resourceId === connectionId)
  expect(entries.filter(({ action }) => action === 'vault.connection.revoked')).toHaveLength(1)
})

test('the server refuses a status without its reason, or with a reason that does not apply', async () => {
  const connectionId = await newConnection(world, vault)
  expect((await setStatus(connectionId, { status: 'reauth_required' })).status).toBe(400)
  expect((await setStatus(connectionId, { status: 'active', reason: 'refresh_rejected' })).status).toBe(400)
  expect((await setStatus(connectionId, { status: 'revoked' })).status).toBe(400)
})

test('the executor and the platform key of one project cannot find a connection of another', async () => {
  const connectionId = await newConnection(world, vault)
  const other = await newVault(world, tenant)
  const params = { vaultConnectionId: connectionId, slot: 'api_key' }
  const as = other.executor.as
  const body = { expectedRevision: 1, ...sealed(other) }
  expect((await world.call(vaultExecutor.connection, { as, params })).status).toBe(404)
  expect((await world.call(vaultExecutor.writeBack, { as, params, body })).status).toBe(404)
  expect((await world.call(vaultExecutor.revoke, { as, params })).status).toBe(404)
  expect((await world.call(vaultPlatform.connection, { as: other.platform.as, params })).status).toBe(404)
  expect((await world.call(vaultPlatform.revoke, { as: other.platform.as, params })).status).toBe(404)
})
