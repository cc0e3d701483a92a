import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { expect, test } from 'vitest'
import { openTenant } from '../../../../test/scene.ts'
import { auditRows } from '../../../../test/state.ts'
import {
  apiKey,
  catalog,
  consented,
  newConnection,
  newLink,
  newManageLink,
  newVault,
  oauth,
  open,
  returnOrigin,
  sent,
  site,
  slotOf,
} from '../../../../test/vault-scene.ts'
import { endUserDigest } from '../../../kernel/end-user.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)
const { platform, executor } = vault

const asPlatform = (body: object) =>
  world.call(vaultPlatform.createSession, { as: platform.as, body: { userRef: 'u', providerId: 'acme', ...body } })
const submit = (as: string, ...slots: object[]) => world.call(vaultConnect.submit, { as, body: { slots } })
const sessionOf = async (connectSessionId: string) =>
  (await sent(world, vaultPlatform.session, { as: platform.as, params: { connectSessionId } })).session
const connectionOf = async (vaultConnectionId: string) =>
  (await sent(world, vaultPlatform.connection, { as: platform.as, params: { vaultConnectionId } })).connection

test('a person opens a link, reads who asks for which credential, consents, and connects an API key', async () => {
  const link = await newLink(world, vault)
  expect(link).toMatchObject({ method: 'api_key', token: expect.stringMatching(/^vct_[\w-]{43}$/) })
  expect(await sessionOf(link.id)).toMatchObject({ status: 'pending', claimedAt: null, connectionId: null })
  const { as, session } = await open(world, link)
  expect(session).toMatchObject({
    ...{ id: link.id, connectionId: link.connectionId, purpose: 'connect', status: 'pending', provider: apiKey },
    ...{ method: 'api_key', slots: [{ slot: 'api_key', revision: 1 }], keys: [executor.key], consentedAt: null },
    ...{ executorOrigin: 'https://executor.example.com', returnUrl: `${returnOrigin}/done` },
  })
  const agreed = await sent(world, vaultConnect.consent, { as, body: { consentVersion: 1 } })
  expect(agreed.session.consentedAt).not.toBeNull()
  const body = { slots: [slotOf(vault)], accountLabel: 'Work' }
  const captured = await sent(world, vaultConnect.submit, { as, body })
  expect(captured).toEqual({ connectionId: link.connectionId, returnUrl: `${returnOrigin}/done` })
  expect((await sent(world, vaultConnect.session, { as })).session.status).toBe('completed')
  expect(await sessionOf(link.id)).toMatchObject({ status: 'completed', connectionId: link.connectionId })
  expect(await connectionOf(link.connectionId)).toMatchObject({
    ...{ userRef: 'user-1', providerId: 'acme', providerName: 'Acme', accountLabel: 'Work', status: 'active' },
    ...{ slots: [{ slot: 'api_key', revision: 1 }], consentVersion: 1, revokedAt: null },
  })
  const entries = (await auditRows(world)).filter(({ resourceId }) => resourceId === link.connectionId)
  const actor = { actorType: 'vault_end_user', actorId: endUserDigest(vault.projectId, 'user-1'), orgId: tenant.orgId }
  expect(entries.map(({ action }) => action).sort()).toEqual(['vault.connection.created', 'vault.credential.written'])
  for (const entry of entries) expect(entry).toMatchObject(actor)
})

test('only the first browser that opens a link can use it, even if several try at once', async () => {
  const { token } = await newLink(world, vault)
  const claim = () => world.call(vaultConnect.claim, { body: { token } })
  const answers = await Promise.all([claim(), claim(), claim()])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  expect((await claim()).error?.message).toBe('this link was already opened')
  const unknown = await world.call(vaultConnect.claim, { body: { token: `vct_${'A'.repeat(43)}` } })
  expect(unknown.status).toBe(404)
})

test('a link that nobody opens in time expires, and an opened session expires after half an hour', async () => {
  const link = await newLink(world, vault, { expiresInSeconds: 60 })
  const opened = await consented(world, vault)
  world.clock.advance(61)
  expect((await sessionOf(link.id)).status).toBe('expired')
  const late = await world.call(vaultConnect.claim, { body: { token: link.token } })
  expect([late.status, late.error?.message]).toEqual([409, 'the session is expired'])
  world.clock.advance(1800 - 61)
  expect((await submit(opened.as, slotOf(vault))).status).toBe(401)
  expect((await sessionOf(opened.id)).status).toBe('expired')
  const params = { connectSessionId: opened.id }
  const body = { slots: [slotOf(vault)] }
  expect((await world.call(vaultExecutor.complete, { as: executor.as, params, body })).status).toBe(409)
})

test.each([
  ['https://evil.example/', 'its origin is not registered'],
  ['javascript:alert(1)', 'must start with https://'],
  ['https://app.example.com@evil.example/', 'has credentials in it'],
  ['https://app.example.com.evil.example/', 'its origin is not registered'],
  ['//app.example.com/', 'is not a URL'],
  ['http://app.example.com/', 'must start with https://'],
])('the server refuses the return URL %s', async (returnUrl, message) => {
  const { status, error } = await asPlatform({ returnUrl })
  expect([status, error?.message]).toEqual([400, expect.stringContaining(message)])
})

test('the server refuses a link that names an e-mail address, an unknown provider or executor, or a connection that it cannot repair', async () => {
  const connectionId = await newConnection(world, vault)
  // This connection has the same person and the same provider, but belongs to another project.
  const foreign = await newConnection(world, await newVault(world, tenant))
  const repair = { purpose: 'reconnect', userRef: 'user-1' }
  const executorNow = { origin: 'https://executor.example.com', thumbprint: executor.key.thumbprint }
  expect((await asPlatform({ executor: executorNow })).status).toBe(201)
  const wrong: [object, number, string][] = [
    [{ userRef: 'ada@example.com' }, 400, 'body.userRef: is an e-mail address'],
    [{ providerId: 'gone' }, 400, 'body.providerId: is not in the catalog'],
    [{ executor: { ...executorNow, origin: 'https://other.example.com' } }, 409, 'is at https://executor.example.com'],
    [{ executor: { ...executorNow, thumbprint: 'n'.repeat(43) } }, 409, 'the registered executor has no such key'],
    [{ purpose: 'reconnect' }, 400, 'body.connectionId: is required'],
    [{ connectionId }, 400, 'body.connectionId: is allowed only with the purpose reconnect'],
    [{ ...repair, connectionId, userRef: 'user-2' }, 404, 'no such connection of this user'],
    [{ ...repair, connectionId: foreign }, 404, 'no such connection of this user'],
    [{ ...repair, connectionId, providerId: 'mail' }, 400, 'with another provider'],
  ]
  for (const [body, status, message] of wrong) {
    const answer = await asPlatform(body)
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
  }
  const params = { vaultConnectionId: connectionId }
  await sent(world, vaultPlatform.revoke, { as: platform.as, params })
  expect((await asPlatform({ ...repair, connectionId })).error?.message).toBe('the connection is revoked')
})

test('only the project that created a link can read its session', async () => {
  const { id } = await newLink(world, vault)
  const params = { connectSessionId: id }
  const other = await newVault(world, tenant)
  expect((await world.call(vaultPlatform.session, { as: platform.as, params })).body.session).toMatchObject({ id })
  const { status, error } = await world.call(vaultPlatform.session, { as: other.platform.as, params })
  expect([status, error?.message]).toEqual([404, 'no such session'])
})

test('a person who cancels ends the session, for the page, the executor and the product', async () => {
  const { as, id, claimToken } = await consented(world, vault)
  const { session } = await sent(world, vaultConnect.cancel, { as })
  expect(session.status).toBe('cancelled')
  const params = { connectSessionId: id }
  expect((await sent(world, vaultPlatform.session, { as: platform.as, params })).session).toMatchObject({
    ...{ status: 'cancelled', connectionId: null, completedAt: null },
  })
  expect((await submit(as, slotOf(vault))).error?.message).toContain('cancelled')
  expect((await world.call(vaultConnect.cancel, { as })).status).toBe(409)
  const verify = { as: executor.as, body: { claimToken } }
  expect((await world.call(vaultExecutor.verifySession, verify)).status).toBe(409)
  const done = await consented(world, vault)
  await sent(world, vaultConnect.submit, { as: done.as, body: { slots: [slotOf(vault)] } })
  expect((await world.call(vaultConnect.cancel, { as: done.as })).status).toBe(409)
  const manages = await open(world, await newManageLink(world, vault))
  expect((await world.call(vaultConnect.cancel, { as: manages.as })).status).toBe(403)
})

test('the server stores no credential without consent, or with consent to an older text', async () => {
  const { as } = await open(world, await newLink(world, vault))
  expect((await submit(as, slotOf(vault))).error?.message).toBe('the person has not consented')
  const agree = (consentVersion: number) => world.call(vaultConnect.consent, { as, body: { consentVersion } })
  expect((await agree(2)).status).toBe(409)
  await agree(1)
  const newer = { providers: [{ ...apiKey, consentVersion: 2 }, oauth, site] }
  const offer = (providers: typeof newer) =>
    sent(world, vaultExecutor.catalog, { as: executor.as, body: { catalog: providers, sdkVersion: 'test/1' } })
  await offer(newer)
  expect((await submit(as, slotOf(vault))).error?.message).toContain('another version of the text')
  await offer({ providers: [oauth] } as never)
  expect((await submit(as, slotOf(vault))).error?.message).toBe('the product no longer offers this provider')
  expect((await agree(2)).status).toBe(409)
  await offer(newer)
  await agree(2)
  expect((await submit(as, slotOf(vault))).status).toBe(200)
  expect((await agree(2)).error?.message).toBe('the session is completed')
  expect((await submit(as, slotOf(vault))).status).toBe(409)
  await offer(catalog as never)
})

test('the server refuses missing and duplicate slots, slots of another method, and wrong revisions or keys, and stores nothing', async () => {
  const { as, id, connectionId } = await consented(world, vault)
  const stranger = { executor: { ...executor, key: { ...executor.key, thumbprint: 'A'.repeat(43) } } }
  const wrong: [object[], number, string][] = [
    [[], 400, 'body.slots: '],
    [[slotOf(vault), slotOf(vault)], 400, 'body.slots.1.slot: is there twice'],
    [[slotOf(vault, 'login')], 400, 'the provider has no slot login'],
    [[slotOf(vault, 'api_key', 2)], 409, 'the next revision of api_key is 1'],
    [[slotOf(stranger)], 400, 'body.slots.0.keyThumbprint: is not a live key'],
  ]
  for (const [slots, status, message] of wrong) {
    const answer = await submit(as, ...slots)
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
  }
  const params = { connectSessionId: id, vaultConnectionId: connectionId }
  const complete = { as: executor.as, params, body: { slots: [slotOf(vault)] } }
  expect((await world.call(vaultExecutor.complete, complete)).error?.message).toContain('the executor captures nothing')
  expect((await world.call(vaultPlatform.connection, { as: platform.as, params })).status).toBe(404)
  expect((await submit(as, slotOf(vault))).status).toBe(200)
})

test('the executor completes a session with the slots that it captured and those that the browser passed on', async () => {
  const { as, claimToken, id, connectionId } = await consented(world, vault, { providerId: 'site' })
  const verify = () => world.call(vaultExecutor.verifySession, { as: executor.as, body: { claimToken } })
  expect((await verify()).body.session).toMatchObject({ id, method: 'browser' })
  expect((await submit(as, slotOf(vault, 'login'), slotOf(vault, 'session'))).status).toBe(400)
  const params = { connectSessionId: id }
  const complete = (...slots: object[]) =>
    world.call(vaultExecutor.complete, { as: executor.as, params, body: { slots } })
  expect((await complete(slotOf(vault, 'login'))).error?.message).toBe('body.slots: session is missing')
  expect((await complete(slotOf(vault, 'login'), slotOf(vault, 'session'))).body.connectionId).toBe(connectionId)
  expect((await verify()).error?.message).toBe('the session is completed')
  const { slots } = await connectionOf(connectionId)
  expect(slots).toMatchObject([
    { slot: 'login', revision: 1 },
    { slot: 'session', revision: 1 },
  ])
})

test('no executor can complete or verify a session that nobody opened, a foreign session, or one for managing connections', async () => {
  const link = await newLink(world, vault, { providerId: 'mail' })
  const other = await newVault(world, tenant)
  const complete = (as: string, connectSessionId: string) =>
    world.call(vaultExecutor.complete, { as, params: { connectSessionId }, body: { slots: [slotOf(vault, 'oauth2')] } })
  expect((await complete(executor.as, link.id)).status).toBe(409)
  expect((await complete(other.executor.as, link.id)).status).toBe(404)
  const manage = await newManageLink(world, vault)
  expect((await complete(executor.as, manage.id)).status).toBe(404)
  const { claimToken } = await open(world, link)
  const verify = (as: string, token: string) =>
    world.call(vaultExecutor.verifySession, { as, body: { claimToken: token } })
  expect((await verify(other.executor.as, claimToken)).status).toBe(404)
  expect((await verify(executor.as, (await open(world, manage)).claimToken)).status).toBe(404)
})

test('a reconnect stores the next revision and makes a broken connection active again', async () => {
  const connectionId = await newConnection(world, vault)
  const params = { vaultConnectionId: connectionId }
  const body = { status: 'reauth_required', reason: 'refresh_rejected' }
  await sent(world, vaultExecutor.setStatus, { as: executor.as, params, body })
  const { as, id, session } = await consented(world, vault, { purpose: 'reconnect', connectionId })
  expect(session).toMatchObject({ connectionId, slots: [{ slot: 'api_key', revision: 2 }] })
  expect((await submit(as, slotOf(vault, 'api_key', 1))).status).toBe(409)
  expect((await submit(as, slotOf(vault, 'api_key', 2))).body.connectionId).toBe(connectionId)
  expect(await connectionOf(connectionId)).toMatchObject({ status: 'active', statusReason: null })
  const actions = (await auditRows(world)).filter(({ resourceId }) => resourceId === connectionId)
  expect(actions.map(({ action }) => action)).toContain('vault.connection.reactivated')
  expect((await sessionOf(id)).connectionId).toBe(connectionId)
})

test('a person can list and revoke only their own connections', async () => {
  const mine = await newConnection(world, vault, { userRef: 'me' })
  const others = await newConnection(world, vault, { userRef: 'someone' })
  const { as, session } = await open(world, await newManageLink(world, vault, 'me'))
  expect(session).toMatchObject({ purpose: 'manage', connections: [{ id: mine, status: 'active' }] })
  const revoke = (connectionId: string) => world.call(vaultConnect.revoke, { as, body: { connectionId } })
  expect((await revoke(others)).status).toBe(404)
  expect((await connectionOf(others)).status).toBe('active')
  for (const _ of [1, 2])
    expect((await revoke(mine)).body.session.connections).toMatchObject([{ status: 'revoked', revokedBy: 'end_user' }])
  expect((await sent(world, vaultConnect.manage, { as })).session.connections).toHaveLength(1)
})

test('a connect link cannot manage connections, and a manage link cannot connect anything', async () => {
  const { as: connects } = await consented(world, vault)
  const { as: manages } = await open(world, await newManageLink(world, vault))
  expect((await world.call(vaultConnect.manage, { as: connects })).status).toBe(403)
  expect((await world.call(vaultConnect.session, { as: manages })).status).toBe(403)
  expect((await submit(manages, slotOf(vault))).status).toBe(403)
})

test('the platform and the admins list connections in pages, by user and by status', async () => {
  const own = await newVault(world, tenant)
  const ids = []
  for (const userRef of ['a', 'a', 'b']) ids.push(await newConnection(world, own, { userRef }))
  const list = async (query: object) =>
    (await sent(world, vaultPlatform.connections, { as: own.platform.as, query: { ...query } })) as {
      connections: { id: string }[]
      nextCursor: string | null
    }
  const first = await list({ limit: 2 })
  expect(first.connections.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  const rest = await list({ limit: 2, cursor: first.nextCursor })
  expect([rest.connections.map(({ id }) => id), rest.nextCursor]).toEqual([ids.slice(2), null])
  expect((await list({ userRef: 'b' })).connections).toMatchObject([{ id: ids[2] }])
  const params = { orgId: tenant.orgId, projectId: own.projectId, vaultConnectionId: ids[0] as string }
  const as = tenant.admin.as
  const revoked = await sent(world, vaultProjects.revokeConnection, { as, params })
  expect(revoked.connection).toMatchObject({ status: 'revoked', revokedBy: 'org_admin', slots: [] })
  const query = { status: 'revoked' } as const
  const shown = await sent(world, vaultProjects.connections, { as, params, query })
  expect(shown.connections.map(({ id }) => id)).toEqual([ids[0]])
})
