import { audit } from '@skerry/contract/audit/endpoints'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { createVault } from '@skerry/sdk/vault'
import { expect, test } from 'vitest'
import { openTenant } from '../../../../test/scene.ts'
import { tableDump } from '../../../../test/state.ts'
import { until } from '../../../../test/until.ts'
import {
  consented,
  newConnection,
  newLink,
  newManageLink,
  newVault,
  open,
  sealed,
  sent,
  slotOf,
  webhookBody,
} from '../../../../test/vault-scene.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)
const { orgId, admin } = tenant
const { platform, projectId, executor } = vault
const erase = (userRef: string, as = platform.as) => world.call(vaultPlatform.eraseUser, { as, params: { userRef } })
/** Lists where a text is still stored. It skips the job queue, which deletes finished jobs a day later. */
const left = async (text: string) =>
  (await tableDump(world))
    .filter(({ where, text: rows }) => rows.includes(text) && where !== 'table public.jobs')
    .map(({ where }) => where)

test('an erasure deletes a person from every table, except for a digest in the audit log, and keeps everyone else', async () => {
  const userRef = 'person / to ? be # erased é'
  const { endpoint } = await sent(world, vaultPlatform.createWebhook, { as: platform.as, body: webhookBody() })
  const inWebhook = { orgId, projectId, vaultWebhookId: endpoint.id }
  const deliveries = async () =>
    (await sent(world, vaultWebhooks.deliveries, { as: admin.as, params: inWebhook })).deliveries.length
  const [mine, others] = [await newConnection(world, vault, { userRef }), await newConnection(world, vault)]
  await until('both connections are told of', async () => (await deliveries()) === 2)
  await sent(world, vaultExecutor.release, { as: executor.as, params: { vaultConnectionId: mine, slot: 'api_key' } })
  await newLink(world, vault, { userRef })
  const half = await consented(world, vault, { userRef })
  const manages = await open(world, await newManageLink(world, vault, userRef))
  // A person with the same reference in another project.
  const elsewhere = await newVault(world, tenant)
  const theirs = await newConnection(world, elsewhere, { userRef })

  const sdk = createVault({
    ...{ baseUrl: world.url, key: platform.as.slice('Bearer '.length) },
    ...{ executorUrl: 'http://127.0.0.1:9', executorToken: 'token' },
  })
  const { erased, userDigest } = await sdk.eraseUser(userRef)
  expect(erased).toEqual({ connections: 1, sessions: 4, deliveries: 1 })
  await sent(world, vaultPlatform.connection, { as: platform.as, params: { vaultConnectionId: others } })
  await sent(world, vaultPlatform.connection, { as: elsewhere.platform.as, params: { vaultConnectionId: theirs } })
  expect(await deliveries()).toBe(1)
  const params = { vaultConnectionId: mine }
  expect((await world.call(vaultPlatform.connection, { as: platform.as, params })).status).toBe(404)
  const release = { as: executor.as, params: { ...params, slot: 'api_key' as const } }
  expect((await world.call(vaultExecutor.release, release)).status).toBe(404)
  for (const as of [half.as, manages.as]) expect((await world.call(vaultConnect.session, { as })).status).toBe(401)
  expect((await erase(userRef)).body.erased).toEqual({ connections: 0, sessions: 0, deliveries: 0 })

  await erase(userRef, elsewhere.platform.as)
  expect(await left(userRef)).toEqual([])
  expect(await left(userDigest)).toEqual([expect.stringMatching(/^table public\.audit_entries_/)])
  const query = { action: 'vault.user.erased', limit: 10 }
  const { entries } = await sent(world, audit.list, { as: admin.as, params: { orgId }, query })
  expect(entries.find(({ metadata }) => metadata.connections === 1 && metadata.deliveries === 1)).toMatchObject({
    ...{ actorType: 'vault_platform', resourceType: 'vault_user', resourceId: userDigest },
  })
})

test('an admin can erase people only in projects of their own organization', async () => {
  await newConnection(world, vault, { userRef: 'for-the-admin' })
  const params = { orgId, projectId, userRef: 'for-the-admin' }
  const { body } = await world.call(vaultProjects.eraseUser, { as: admin.as, params })
  expect(body.erased).toMatchObject({ connections: 1, sessions: 1 })
  const other = await openTenant()
  const foreign = { as: other.tenant.admin.as, params }
  expect((await other.world.call(vaultProjects.eraseUser, foreign)).status).toBe(404)
})

test('erasures that race with a capture, a write-back or a repair leave nothing behind', async () => {
  for (let round = 0; round < 8; round++) {
    const userRef = `racer-${round}`
    const connectionId = await newConnection(world, vault, { userRef })
    const connecting = await consented(world, vault, { userRef })
    const repairing = await consented(world, vault, { userRef, purpose: 'reconnect', connectionId })
    const submit = (as: string, revision: number) =>
      world.call(vaultConnect.submit, { as, body: { slots: [slotOf(vault, 'api_key', revision)] } })
    const params = { vaultConnectionId: connectionId, slot: 'api_key' }
    const body = { expectedRevision: 1, ...sealed(vault) }
    const answers = await Promise.all([
      submit(connecting.as, 1),
      erase(userRef),
      world.call(vaultExecutor.writeBack, { as: executor.as, params, body }),
      submit(repairing.as, 2),
    ])
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
    await erase(userRef)
    expect(await left(userRef)).toEqual([])
  }
})

test.each(['%00', 'a'.repeat(256), '%C2%85'])('the server refuses the user reference %s', async (encoded) => {
  const headers = { authorization: platform.as }
  const { status } = await fetch(`${world.url}/v1/vault/users/${encoded}`, { method: 'DELETE', headers })
  expect(status).toBe(400)
})
