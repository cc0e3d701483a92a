import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair, type PrivateKey } from '@skerry/crypto/keys'
import { signRegistration } from '@skerry/crypto/vault'
import { expect, test } from 'vitest'
import { openTenant } from '../../../../test/scene.ts'
import { auditRows } from '../../../../test/state.ts'
import { newCliSession, newMember, sessionOf, signUp, withFactor } from '../../../../test/tenant.ts'
import { until } from '../../../../test/until.ts'
import {
  apiKey,
  catalog,
  newCode,
  newConnection,
  newExecutor,
  newManageLink,
  newPlatformKey,
  newProject,
  newVault,
  newWrappingKey,
  oauth,
  open,
  registration,
  sent,
} from '../../../../test/vault-scene.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const as = tenant.admin.as
const person = await newMember(world, tenant, 'admin')

const register = (body: object) => world.call(vaultExecutor.register, { body: body as Record<string, unknown> })

test('an admin creates, lists, changes and disables a project; an update replaces the whole display', async () => {
  const project = await newProject(world, tenant)
  const params = { orgId, projectId: project.id }
  expect(project).toMatchObject({ status: 'active', display: { name: 'Product', logoUrl: null, accent: null } })
  const display = {
    name: 'New',
    accent: '#3366cc',
    returnOrigins: ['https://app.example.com/', 'http://localhost:3000'],
  }
  const update = (body: object) => world.call(vaultProjects.update, { as, params, body: { ...body } })
  expect((await update({ display, status: 'disabled' })).body.project).toMatchObject({
    status: 'disabled',
    display: { name: 'New', returnOrigins: ['https://app.example.com', 'http://localhost:3000'] },
  })
  const { body } = await world.call(vaultProjects.list, { as, params })
  expect(body.projects.map(({ id }) => id)).toContain(project.id)
  const elsewhere = await signUp(world)
  const foreign = { as: elsewhere.admin.as, params: { orgId: elsewhere.orgId, projectId: project.id } }
  expect((await world.call(vaultProjects.get, foreign)).status).toBe(404)
})

test.each([
  ['javascript:alert(1)', 'must start with https://'],
  ['http://app.example.com', 'must start with https://'],
  ['https://app.example.com/path', 'is not an origin'],
  ['https://app.example.com@evil.example', 'has credentials in it'],
  ['https://', 'is not a URL'],
])('the server refuses the return origin %s, and creates no project', async (origin, message) => {
  const list = () => sent(world, vaultProjects.list, { as, params: { orgId } })
  const before = await list()
  const body = { name: 'Product', display: { name: 'Product', returnOrigins: [origin] } }
  const answer = await world.call(vaultProjects.create, { as, params: { orgId }, body })
  expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining(message)])
  expect(await list()).toEqual(before)
})

test('only an admin in a browser with a fresh second factor can create keys and registration codes', async () => {
  const projectId = (await newProject(world, tenant)).id
  const params = { orgId, projectId }
  const email = 'fresh@example.com'
  await newMember(world, tenant, 'admin', { email, claims: withFactor(world) })
  const stale = await sessionOf(world, email, withFactor(world, 601))
  const fresh = await sessionOf(world, email, withFactor(world, 30))
  const cli = await newCliSession(world, person)
  for (const endpoint of [vaultProjects.createKey, vaultProjects.createRegistrationCode]) {
    const body = endpoint === vaultProjects.createKey ? { name: 'key' } : {}
    const mint = async (caller: string) => {
      const { status, error } = await world.call(endpoint as typeof vaultProjects.createKey, {
        as: caller,
        params,
        body,
      })
      return [status, error?.code]
    }
    expect(await mint(stale)).toEqual([403, 'mfa_required'])
    for (const other of [as, tenant.machine.as, cli.as]) expect(await mint(other)).toEqual([403, 'forbidden'])
    expect(await mint(fresh)).toEqual([201, undefined])
  }
})

test('a platform key works until it is revoked, and its secret is shown once', async () => {
  const projectId = (await newProject(world, tenant)).id
  const key = await newPlatformKey(world, tenant, projectId, person)
  const ask = async () => (await world.call(vaultPlatform.connections, { as: key.as })).status
  expect(await ask()).toBe(200)
  const params = { orgId, projectId, vaultKeyId: key.id }
  const before = await sent(world, vaultProjects.get, { as, params })
  expect(before.keys).toMatchObject([{ id: key.id, name: 'backend', createdById: person.id, revokedAt: null }])
  expect(JSON.stringify(before)).not.toContain(key.as.slice('Bearer '.length))
  for (const _ of [1, 2]) expect((await world.call(vaultProjects.revokeKey, { as, params })).status).toBe(200)
  expect(await ask()).toBe(401)
})

test('an admin cannot revoke a platform key through another project', async () => {
  const [mine, others] = [(await newProject(world, tenant)).id, (await newProject(world, tenant)).id]
  const key = await newPlatformKey(world, tenant, others, person)
  const params = { orgId, projectId: mine, vaultKeyId: key.id }
  expect((await world.call(vaultProjects.revokeKey, { as, params })).status).toBe(404)
  expect((await world.call(vaultPlatform.connections, { as: key.as })).status).toBe(200)
})

test('a code registers one executor within ten minutes; unknown and expired codes get the same answer', async () => {
  const projectId = (await newProject(world, tenant)).id
  const unknown = await register(registration(`vrc_${'A'.repeat(43)}`))
  expect([unknown.status, unknown.error?.message]).toEqual([401, 'unknown registration code'])
  const late = await newCode(world, tenant, projectId, person)
  world.clock.advance(601)
  expect((await register(registration(late))).error).toEqual(unknown.error)
  const code = await newCode(world, tenant, projectId, person)
  const both = await Promise.all([register(registration(code)), register(registration(code))])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 401])
  const second = await newCode(world, tenant, projectId, person)
  expect((await register(registration(second))).status).toBe(409)
  const params = { orgId, projectId }
  await sent(world, vaultProjects.disableExecutor, { as, params })
  // The refused registration did not use up the code.
  expect((await register(registration(second))).status).toBe(201)
})

test('a code gives the active executor a new credential only if the executor proves that it has its key', async () => {
  const projectId = (await newProject(world, tenant)).id
  const own = await generateKeyPair()
  const key = { jwk: JSON.parse(own.publicKeyJwk) as object, thumbprint: await fingerprint(own.publicKeyJwk) }
  const before = await newExecutor(world, await newCode(world, tenant, projectId, person), key)
  const code = await newCode(world, tenant, projectId, person)
  const body = registration(code, key)
  const signed = (privateKey: PrivateKey, of = body) => signRegistration(privateKey, of.code, of.origin)
  const stranger = await generateKeyPair()
  const foreign = { jwk: JSON.parse(stranger.publicKeyJwk), thumbprint: await fingerprint(stranger.publicKeyJwk) }
  const wrong = [
    body,
    { ...body, proof: await signed(stranger.privateKey) },
    { ...body, proof: await signed(own.privateKey, { ...body, origin: 'https://other.example.com' }) },
    { ...body, proof: await signed(own.privateKey, { ...body, code: `vrc_${'A'.repeat(43)}` }) },
    { ...body, wrappingKey: foreign, proof: await signed(stranger.privateKey) },
  ]
  for (const one of wrong) expect((await register(one)).status).toBe(409)
  const isKnown = async (as: string) => (await world.call(vaultExecutor.me, { as })).status === 200
  expect(await isKnown(before.as)).toBe(true)

  const again = await register({ ...body, proof: await signed(own.privateKey) })
  expect([again.status, again.body.executorId]).toEqual([201, before.id])
  expect([await isKnown(before.as), await isKnown(`Bearer ${again.body.credential}`)]).toEqual([false, true])
  const entry = (await auditRows(world)).findLast(({ action }) => action === 'vault.executor.registered')
  expect(entry).toMatchObject({ resourceId: before.id, metadata: { again: true } })
})

test('the server refuses an invalid registration, names the field, and leaves the code usable', async () => {
  const code = await newCode(world, tenant, (await newProject(world, tenant)).id, person)
  const sound = registration(code)
  const other = newWrappingKey()
  const withProvider = (...providers: object[]) => ({ ...sound, catalog: { providers } })
  const wrong: [object, string][] = [
    [{ ...sound, origin: 'https://executor.example.com/path' }, 'body.origin: is not an origin'],
    [{ ...sound, wrappingKey: { ...sound.wrappingKey, thumbprint: other.thumbprint } }, 'is not that of the key'],
    [{ ...sound, wrappingKey: { ...other, jwk: { ...other.jwk, d: 'AAAA' } } }, 'that a public key does not have'],
    [{ ...sound, wrappingKey: { ...other, jwk: { ...other.jwk, y: other.jwk.x } } }, 'is not a point on the curve'],
    [withProvider(apiKey, apiKey), 'providers.1.id: is there twice'],
    [withProvider({ ...apiKey, slots: ['oauth2'] }), 'providers.0.slots: api_key has no slot oauth2'],
    [withProvider({ ...oauth, slots: ['oauth2', 'oauth2'] }), 'providers.0.slots: a slot is there twice'],
    [withProvider({ ...apiKey, helpUrl: 'javascript:1' }), 'providers.0.helpUrl: must start with https://'],
  ]
  for (const [body, message] of wrong) {
    const answer = await register(body)
    expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining(message)])
  }
  expect((await register(sound)).status).toBe(201)
})

test('an executor shows its keys, rotates them, replaces its catalog, and counts as seen after a call', async () => {
  const projectId = (await newProject(world, tenant)).id
  const params = { orgId, projectId }
  expect((await sent(world, vaultProjects.executor, { as, params })).executor).toBeNull()
  const executor = await newExecutor(world, await newCode(world, tenant, projectId, person))
  const next = newWrappingKey()
  const added = await sent(world, vaultExecutor.addKey, { as: executor.as, body: { wrappingKey: next } })
  expect(added.executor.keys).toMatchObject([
    { thumbprint: next.thumbprint, current: true },
    { thumbprint: executor.key.thumbprint, current: false },
  ])
  const body = { catalog: { providers: [oauth] }, sdkVersion: 'test/2' }
  await sent(world, vaultExecutor.catalog, { as: executor.as, body })
  const me = await sent(world, vaultExecutor.me, { as: executor.as })
  expect(me).toMatchObject({ executor: { id: executor.id, ...body }, project: { id: projectId, status: 'active' } })
  const shown = async () => (await sent(world, vaultProjects.get, { as, params })).executor
  expect(await shown()).toMatchObject({ id: executor.id, status: 'active' })
  // The server records the last use after it has answered.
  await until('the executor has been seen', async () => (await shown())?.lastSeenAt !== null)
})

test('a disabled executor is refused on its next call and cannot be disabled twice', async () => {
  const { projectId, executor } = await newVault(world, tenant)
  const params = { orgId, projectId }
  expect((await sent(world, vaultProjects.disableExecutor, { as, params })).executor.status).toBe('disabled')
  expect((await world.call(vaultExecutor.me, { as: executor.as })).status).toBe(401)
  expect((await world.call(vaultProjects.disableExecutor, { as, params })).status).toBe(409)
})

test('a disabled project still lets people and the backend revoke connections', async () => {
  const vault = await newVault(world, tenant)
  const [one, other] = [await newConnection(world, vault), await newConnection(world, vault)]
  const params = { orgId, projectId: vault.projectId }
  await sent(world, vaultProjects.update, { as, params, body: { status: 'disabled' } })
  const manages = (await open(world, await newManageLink(world, vault))).as
  const { session } = await sent(world, vaultConnect.revoke, { as: manages, body: { connectionId: one } })
  const statuses = new Map(session.connections.map(({ id, status }) => [id, status]))
  expect([statuses.get(one), statuses.get(other)]).toEqual(['revoked', 'active'])
  await sent(world, vaultPlatform.revoke, { as: vault.platform.as, params: { vaultConnectionId: other } })
})

test('a disabled project accepts no executor and creates no connect link until it is enabled again', async () => {
  const { projectId, platform } = await newVault(world, tenant)
  const params = { orgId, projectId }
  const setStatus = (status: string) => sent(world, vaultProjects.update, { as, params, body: { status } })
  const link = () =>
    world.call(vaultPlatform.createSession, { as: platform.as, body: { userRef: 'u', providerId: 'acme' } })
  await setStatus('disabled')
  expect((await link()).error?.message).toBe('the project is disabled')
  await sent(world, vaultProjects.disableExecutor, { as, params })
  const code = await newCode(world, tenant, projectId, person)
  expect((await register(registration(code))).status).toBe(409)
  await setStatus('active')
  expect((await register({ ...registration(code), catalog })).status).toBe(201)
  expect((await link()).status).toBe(201)
})
