import { access, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tokenHash } from '@skerry/crypto/digest'
import { parsePin } from '@skerry/crypto/directory/pin'
import { verifyDirectoryEntry } from '@skerry/crypto/directory/verify'
import { generateKeyPair } from '@skerry/crypto/keys'
import { rewrapShare } from '@skerry/crypto/recovery'
import { openSecret } from '@skerry/crypto/secret'
import { createSkerry } from '@skerry/sdk'
import { type Client, createClient } from '@skerry/sdk/client'
import { createEnvironment } from '@skerry/sdk/environments'
import { fetchCheckpoint, verifyTrail } from '@skerry/sdk/internal/audit-proof'
import { openManagedKey } from '@skerry/sdk/internal/kms'
import { listOverrides } from '@skerry/sdk/overrides'
import { gatherRecoveryKey, recoverKeys } from '@skerry/sdk/recovery'
import { compareRekey } from '@skerry/sdk/rekey-changes'
import { listDetails } from '@skerry/sdk/secret-details'
import { versionOpener } from '@skerry/sdk/secret-history'
import {
  type EnvironmentKey,
  environmentKey,
  grantEnvironment,
  putSecret,
  restoreDeletedSecret,
} from '@skerry/sdk/secrets'
import { type CreatedServiceToken, createServiceToken, registerRestored, registrationOf } from '@skerry/sdk/tokens'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { seal } from '../src/features/audit-proof/seal.ts'
import type { RunningServer } from '../src/server.ts'
import { archiveOf, readArchive } from './archives.ts'
import { kitSealedKey, sealedPrivateKey } from './blobs.ts'
import { signEntries } from './directory-steps.ts'
import { type Filled, fillTenant, readTeam } from './fill.ts'
import { type Operated, operate as operateIn, operateProcess } from './operate.ts'
import { newScratch } from './scratch.ts'
import { acceptInvites, invitePerson, newDecoy, signUp, type Tenant } from './tenant.ts'
import { openWorld, start, type World } from './world.ts'

// A customer moves to a new server: an archive is made while others write, and restored to an embedded database. People
// who could open a secret before must be able to open it there.

interface Person {
  client: Client
  bearer: string
  id: string
  keys: Awaited<ReturnType<typeof generateKeyPair>>
}

interface Place {
  id: string
  key: EnvironmentKey
}

let world: World
let tenant: Tenant
let admin: Person
let member: Person
let approver: Person
let rich: Filled
let reader: CreatedServiceToken
let place: Place
let target: RunningServer
let archive: Buffer
let publicKey: string
let said: Operated
let folder: string

beforeAll(async () => {
  world = await openWorld()
  await world.server.context.queue.stop()
  tenant = await signUp(world)
  admin = await joined('admin@example.com', 'admin')
  member = await joined('member@example.com', 'member')
  await newDecoy(world, tenant, 'in the wiki')
  approver = await joined('approver@example.com', 'admin')
  place = await newPlace()
  rich = await fillTenant(world, tenant, [admin, member, approver])
  await write('STABLE', 'was there before')
  await seal(world.server.context)
  archive = await whileWriting(() =>
    archiveOf(world, { ...tenant, admin: { as: `Bearer ${admin.bearer}`, id: admin.id } }),
  )
  publicKey = (await admin.client.auditProof.exportKey({})).publicKey
  folder = await newScratch('skerry-restore-')
  await writeFile(join(folder, 'archive.json'), archive)
  said = await operateProcess(settings(), ['org', 'restore', join(folder, 'archive.json'), '--key', publicKey])
})
afterAll(async () => {
  await target?.close()
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const settings = () => ({
  // Neither this folder nor its parent exists yet.
  SKERRY_DATA_DIR: join(folder, 'server', 'data'),
  SKERRY_PORT: '0',
  SKERRY_OIDC_ISSUER: world.issuer.url,
  SKERRY_OIDC_AUDIENCE: world.issuer.audience,
  SKERRY_RATE_LIMITS: 'off',
})

/** Adds a person with a keyring to the organization. */
async function joined(email: string, role: 'admin' | 'member'): Promise<Person> {
  const bearer = await world.issuer.token({ sub: `sub-${email}`, email, email_verified: true })
  const client = createClient({ baseUrl: world.url, credential: { bearer } })
  const keys = await generateKeyPair()
  const { publicKeyJwk } = keys
  await client.me.putKeys({ body: { publicKeyJwk, encryptedPrivateKey: sealedPrivateKey() } })
  await client.recoveryKit.put({ body: { publicKeyJwk, encryptedPrivateKey: kitSealedKey() } })
  await invitePerson(world, tenant, email, role)
  await acceptInvites(world, { as: `Bearer ${bearer}` })
  const { principal } = await client.me.get()
  return { client, bearer, id: principal.id, keys }
}

/** Creates an environment that the admin, the member and a service token can read. */
async function newPlace(): Promise<Place> {
  const { orgId } = tenant
  const { app } = await admin.client.apps.create({ params: { orgId }, body: { name: 'Web', slug: 'web' } })
  const where = { orgId, appId: app.id, name: 'Production', slug: 'production' }
  const { environment, key } = await createEnvironment(admin.client, where, admin.keys.publicKeyJwk)
  const made = { orgId, name: 'web', environmentId: environment.id }
  reader = await createServiceToken(admin.client, made)
  const grantees = [
    { principalType: 'user' as const, principalId: member.id, publicKeyJwk: member.keys.publicKeyJwk },
    {
      principalType: 'service_token' as const,
      principalId: reader.serviceToken.id,
      publicKeyJwk: reader.parsed.publicKeyJwk,
    },
  ]
  for (const grantee of grantees)
    await grantEnvironment(admin.client, { orgId, envId: environment.id, ...grantee }, key.bytes)
  return { id: environment.id, key }
}

const write = (name: string, value: string) =>
  putSecret(admin.client, { orgId: tenant.orgId, envId: place.id, name }, value, place.key.dek)

/** Does the work while versions of a secret are written one after the other. */
async function whileWriting<T>(work: () => Promise<T>): Promise<T> {
  let isDone = false
  let count = 0
  const writing = async () => {
    do await write('MOVING', `value ${++count}`)
    while (!isDone || count < 5)
  }
  const writer = writing()
  try {
    return await work()
  } finally {
    isDone = true
    await writer
  }
}

/** Runs `skerry-server` with the settings of the new server. */
const operate = (...args: string[]) => operateIn(settings(), args)

test('an archive that is made during writes is complete and consistent', async () => {
  const { data } = await readArchive(archive, publicKey)
  const versions = new Map<unknown, unknown>()
  for (const { secretId, version } of data.secretVersions!) versions.set(secretId, version)
  for (const { id, currentVersion } of data.secrets!) expect(versions.get(id)).toBe(currentVersion)
})

test('the restore command prints what it restored, and names what it could not restore', () => {
  expect([said.code, said.stderr]).toEqual([0, ''])
  expect(said.stdout).toContain(`A new database was made in ${settings().SKERRY_DATA_DIR}.`)
  expect(said.stdout).toContain('is restored as it was at')
  expect(said.stdout).toContain('Its audit log is the one that was signed')
  expect(said.stdout).toContain(`web (${reader.serviceToken.id})`)
  expect(said.stdout).toMatch(/to store their sealed private key again: .*member@example\.com/)
  for (const label of rich.left) expect(said.stdout).toContain(label)
  expect(said.stdout).toMatch(/Decoys, .*: in the wiki/)
  expect(said.stdout).toMatch(/Machine clients, /)
})

test('the restore command refuses an existing organization, a missing or wrong key, and a changed archive', async () => {
  const path = join(folder, 'archive.json')
  expect(await operate('org', 'restore', path, '--key', publicKey)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is here already'),
  })
  expect(await operate('org', 'restore', path)).toMatchObject({ code: 1, stderr: expect.stringContaining('--key') })
  const other = Buffer.alloc(32, 1).toString('base64url')
  expect((await operate('org', 'restore', path, '--key', other)).stderr).toContain('manifest: it or its signature')
  const damaged = join(folder, 'damaged.json')
  await writeFile(damaged, archive.toString().replace('"slug":"web"', '"slug":"wex"'))
  const { data } = await readArchive(archive, publicKey)
  const row = data.applications!.findIndex(({ slug }) => slug === 'web') + 1
  const refused = await operate('org', 'restore', damaged, '--key', publicKey)
  expect(refused.stderr).toContain(`applications, row ${row}: is not`)
  await writeFile(
    damaged,
    JSON.stringify(JSON.parse(archive.toString().replace('"slug":"web"', '"slug":"wex"')), null, 2),
  )
  const respelled = await operate('org', 'restore', damaged, '--key', publicKey)
  expect(respelled.stderr).toContain(`applications, row ${row}: is not`)
})

test('an archive that was reformatted can still be restored', async () => {
  const path = join(folder, 'formatted.json')
  const { signature, manifest, ...rest } = JSON.parse(archive.toString())
  await writeFile(path, JSON.stringify({ signature, manifest, ...rest }, null, 2))
  const args = ['org', 'restore', path, '--key', publicKey]
  const { code, stdout } = await operateIn({ ...settings(), SKERRY_DATA_DIR: join(folder, 'formatted') }, args)
  expect([code, stdout]).toEqual([0, expect.stringContaining('Its audit log is the one that was signed')])
})

test('a damaged or missing archive leaves no new database behind', async () => {
  const nowhere = join(folder, 'nowhere')
  for (const name of ['damaged.json', 'missing.json']) {
    const args = ['org', 'restore', join(folder, name), '--key', publicKey]
    const { code, stdout } = await operateIn({ ...settings(), SKERRY_DATA_DIR: nowhere }, args)
    expect([name, code, stdout]).toEqual([name, 1, ''])
  }
  await expect(access(nowhere)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('people can read every secret on the new server, and tokens can once they are registered again', async () => {
  target = await start(readConfig(settings()), [], () => new Date())
  const baseUrl = target.url
  const read = (person: Person) =>
    createSkerry({ baseUrl, bearer: person.bearer, privateKey: person.keys.privateKey, env: place.id }).resolve()
  const { data } = await readArchive(archive)
  const names = data.secrets!.filter(({ environmentId }) => environmentId === place.id).map(({ name }) => name)
  for (const person of [admin, member]) {
    const { values } = await read(person)
    expect(Object.keys(values).toSorted()).toEqual(names.toSorted())
    expect(values.STABLE).toBe('was there before')
  }

  const byToken = () => createSkerry({ baseUrl, token: reader.token }).resolve()
  await expect(byToken()).rejects.toMatchObject({ code: 'unauthorized' })
  const here = createClient({ baseUrl, credential: { bearer: admin.bearer } })
  const { tokenId, publicKeyJwk, bearer } = reader.parsed
  const body = { name: 'web', tokenId, publicKeyJwk, tokenHash: await tokenHash(bearer), environmentId: place.id }
  const params = { orgId: tenant.orgId }
  const wrong = { ...body, publicKeyJwk: (await generateKeyPair()).publicKeyJwk }
  await expect(here.tokens.create({ params, body: wrong })).rejects.toMatchObject({ code: 'conflict' })
  await expect(here.tokens.create({ params, body: { ...body, role: 'admin' } })).rejects.toMatchObject({
    code: 'conflict',
  })
  const registered = await registerRestored(here, tenant.orgId, await registrationOf(reader.token))
  expect(registered).toMatchObject({ id: tokenId, name: 'web', environmentId: place.id })
  expect((await byToken()).values.STABLE).toBe('was there before')
  await expect(here.tokens.create({ params, body })).rejects.toMatchObject({ code: 'conflict' })
})

const at = (person: Person) => createClient({ baseUrl: target.url, credential: { bearer: person.bearer } })

/** Returns an environment's own secrets on the new server, opened with the key that this person was granted. */
async function valuesThere(person: Person, envId: string): Promise<Record<string, string>> {
  const params = { orgId: tenant.orgId, envId }
  const { dek } = await environmentKey(at(person), params, person.keys.privateKey)
  const { secrets } = await at(person).secrets.list({ params })
  const open = async ({ name, ciphertext }: (typeof secrets)[number]) =>
    [name, await openSecret(ciphertext, dek, envId, name)] as const
  return Object.fromEntries(await Promise.all(secrets.map(open)))
}

/** Opens every version of every secret of an environment -> the number of versions. */
async function openVersions(person: Person, envId: string): Promise<number> {
  const params = { orgId: tenant.orgId, envId }
  const { dek } = await environmentKey(at(person), params, person.keys.privateKey)
  const { secrets } = await at(person).secrets.list({ params })
  const counts = secrets.map(async ({ name }) => {
    const { versions } = await at(person).secrets.versions({ params: { ...params, name } })
    for (const { ciphertext } of versions) await openSecret(ciphertext, dek, envId, name)
    return versions.length
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

test('the signed directory goes on from where the archive was made', async () => {
  const { signer, chain } = rich.directory
  const client = at(admin)
  const params = { orgId: tenant.orgId }
  const key = `environment/web/production` as const
  const shown = (await client.directory.get({ params, query: { key: [key] } })).directory
  const trust = { pins: [parsePin(chain.root.hash)], known: null, now: Date.now() / 1000, purpose: 'read' } as const
  const answer = { roots: shown!.roots, heads: shown!.heads, proof: shown!.proofs[0]! }
  expect((await verifyDirectoryEntry(answer, key, trust)).entry).toEqual(chain.entries.get(key))
  // The new server has no key of a rotator or of a sync connection, so their entries end.
  const workers = [...chain.entries.keys()].filter((one) => one.startsWith('worker/'))
  expect(workers).toHaveLength(2)
  const ended = Object.fromEntries(workers.map((one) => [one, null]))
  const { trust: body, after } = await signEntries(chain, ended, { signer, now: Math.floor(Date.now() / 1000) })
  expect((await client.directory.put({ params, body })).head).toEqual({ version: 2, hash: after.head!.hash })
})

test('the admin can open every version of every secret of every environment on the new server', async () => {
  const { data } = await readArchive(archive)
  const counted = { environments: 0, versions: 0 }
  for (const { id } of data.environments!) {
    const envId = String(id)
    expect(await valuesThere(admin, envId)).toMatchObject(rich.values.get(envId) ?? { STABLE: 'was there before' })
    counted.versions += await openVersions(admin, envId)
    counted.environments += 1
  }
  expect(counted).toEqual({ environments: 9, versions: data.secretVersions!.length })
  const { envId: env, branch, values } = rich.branched
  const { bearer, keys } = admin
  const read = createSkerry({ baseUrl: target.url, bearer, privateKey: keys.privateKey, env, branch })
  expect((await read.resolve()).values).toMatchObject(values)
})

test('the details of a name are the same on the new server', async () => {
  const { envId, ...described } = rich.described
  const params = { orgId: tenant.orgId, envId }
  const { dek } = await environmentKey(at(admin), params, admin.keys.privateKey)
  const facts = { ownerId: admin.id, expiresAt: '2090-01-01T00:00:00.000Z', notNeeded: true }
  expect(await listDetails(at(admin), params, dek)).toMatchObject([{ ...described, ...facts, isReadable: true }])
})

test('a personal override opens on the new server for its person', async () => {
  const { envId, name, value } = rich.own
  const params = { orgId: tenant.orgId, envId, userId: admin.id }
  expect(await listOverrides(at(admin), params, admin.keys.privateKey)).toMatchObject([{ name, value, revision: 1 }])
})

test('a deleted secret can be restored on the new server, with its versions under their former names', async () => {
  const { envId, name, value } = rich.deleted
  const params = { orgId: tenant.orgId, envId }
  const { deletedSecrets } = await at(admin).deletedSecrets.list({ params })
  const kept = deletedSecrets.find((one) => one.name === name) as (typeof deletedSecrets)[number]
  const { dek } = await environmentKey(at(admin), params, admin.keys.privateKey)
  await restoreDeletedSecret(at(admin), params, kept, dek)
  expect(await valuesThere(admin, envId)).toMatchObject({ [name]: value })
  const history = await at(admin).secrets.versions({ params: { ...params, name } })
  const open = await versionOpener(history, { envId, name }, dek)
  expect(await Promise.all(history.versions.map(open))).toEqual(['last', 'last', 'first', 'first'])
})

test('a pending change can be approved on the new server, and a managed key decrypts data from before its rotation', async () => {
  const { orgId } = tenant
  const { envId, changeRequestId, name, value } = rich.pending
  const params = { orgId, changeRequestId }
  await at(approver).changes.approve({ params, body: {} })
  expect(await valuesThere(admin, envId)).toEqual({ GUARDED: value, OTHER: 'stays' })
  const { dek } = await environmentKey(at(admin), { orgId, envId }, admin.keys.privateKey)
  const again = await putSecret(at(admin), { orgId, envId, name }, 'unasked', dek)
  expect(again).toMatchObject({ queued: true })

  const { kmsKeyId, blob, context, plaintext } = rich.kms
  const key = await openManagedKey(at(admin), { orgId, kmsKeyId }, admin.keys.privateKey)
  expect([blob.split('.')[2], key.versions]).toEqual(['1', [1, 2]])
  expect(await key.decrypt(blob, context)).toEqual(plaintext)
  expect(await key.decrypt(await key.encrypt(plaintext))).toEqual(plaintext)
})

test('a pending re-key can be compared and approved on the new server', async () => {
  const { orgId } = tenant
  const { envId, changeRequestId } = rich.pendingRekey
  const compared = await compareRekey(at(admin), { orgId, envId, changeRequestId }, admin.keys.privateKey)
  expect(compared).toMatchObject({ stale: false, strangers: [], values: { same: 1, problems: [] } })
  const { status } = await at(approver).changes.approve({ params: { orgId, changeRequestId }, body: { rekey: true } })
  expect(status).toBe('applied')
  expect(await valuesThere(admin, envId)).toEqual({ KEPT: 'under both keys' })
  const { bytes } = await environmentKey(at(admin), { orgId, envId }, admin.keys.privateKey)
  expect(bytes).toEqual(compared.values?.key.bytes)
})

test('custodians can recover a covered environment on the new server, and an agent keeps its signed policy', async () => {
  const { orgId } = tenant
  const { recoveryPublicKeyJwk, pending, agent } = rich
  const { envId } = pending
  const { recovery, coverage } = await at(admin).recovery.get({ params: { orgId } })
  expect([recovery?.threshold, coverage.unprotectedEnvIds]).toEqual([2, [place.id]])
  const { publicKeyJwk: targetPublicKeyJwk, privateKey } = member.keys
  const target = { targetPublicKeyJwk, targetType: 'user' as const, targetId: member.id }
  const { request } = await at(admin).recoveryRequests.open({ params: { orgId }, body: target })
  const params = { orgId, recoveryRequestId: request.id }
  for (const custodian of [admin, approver]) {
    const { share } = await at(custodian).recovery.share({ params: { orgId } })
    const { shareIndex, threshold, wrappedShare } = share
    const of = { orgId, shareIndex, threshold }
    const { privateKey: own } = custodian.keys
    const contributedShare = await rewrapShare(wrappedShare, own, targetPublicKeyJwk, recoveryPublicKeyJwk, of)
    await at(custodian).recoveryRequests.contribute({ params, body: { shareIndex, contributedShare } })
  }
  const given = { orgId, ...(await at(member).recoveryRequests.get({ params })) }
  const { recoveryKey, falseShares } = await gatherRecoveryKey(given, privateKey, recoveryPublicKeyJwk)
  const { grants } = await recoverKeys(at(member), { orgId, targetPublicKeyJwk, chosen: new Set([envId]) }, recoveryKey)
  expect([falseShares, grants.length]).toEqual([[], 1])
  const body = { principalType: 'user' as const, principalId: member.id, grants }
  await at(member).recoveryRequests.complete({ params, body })
  expect(await valuesThere(member, envId)).toMatchObject({ OTHER: 'stays' })

  const { policies } = await at(admin).agents.policies({ params: { orgId, agentId: agent.agentId } })
  expect(policies.map(({ bundle }) => bundle)).toEqual([agent.bundle])
})

test('an open request for access is answered on the new server', async () => {
  const { request } = await createClient({
    baseUrl: target.url,
    credential: { bearer: member.bearer },
  }).accessRequests.get({
    params: { orgId: tenant.orgId, accessRequestId: rich.access.id },
  })
  expect(request).toEqual(rich.access)
})

test('a running offboarding continues on the new server', async () => {
  const { orgId } = tenant
  const { offboardingId, rows } = rich.leaving
  const here = createClient({ baseUrl: target.url, credential: { bearer: admin.bearer } })
  expect((await here.offboardings.rows({ params: { orgId, offboardingId } })).rows).toEqual(rows)
})

test('a team has its people, environments, locked out people, plans and invitations on the new server', async () => {
  const { data } = await readArchive(archive)
  const sections =
    'teams teamMembers teamEnvironments keyExclusions plannedGrants invitationTeams invitationEnvironments'
  expect(sections.split(' ').filter((name) => (data[name]?.length ?? 0) === 0)).toEqual([])
  expect(data.keyGrants!.filter(({ ofTeam }) => ofTeam)).toHaveLength(1)
  expect(rich.team.detail.environments.map(({ lockedOut }) => lockedOut)).toContainEqual([approver.id])
  expect(rich.team.missing).toHaveLength(1)
  expect(await readTeam(at(admin), tenant.orgId, approver.id)).toEqual(rich.team)
})

test('the archive has the sealed private key and the recovery kit of the person who made it, and of nobody else', async () => {
  const here = createClient({ baseUrl: target.url, credential: { bearer: member.bearer } })
  expect(await here.me.getKeys()).toEqual({ publicKeyJwk: member.keys.publicKeyJwk, encryptedPrivateKey: null })
  const own = createClient({ baseUrl: target.url, credential: { bearer: admin.bearer } })
  expect((await own.me.getKeys()).encryptedPrivateKey).toMatch(/^pk1\./)
  expect(await own.recoveryKit.get()).toEqual(await admin.client.recoveryKit.get())
  expect((await own.recoveryKit.get()).kit?.encryptedPrivateKey).toMatch(/^pk3\./)
  expect(await here.recoveryKit.get()).toEqual({ kit: null })
})

test('the audit log continues on the new server after the entries that the first server signed', async () => {
  const before = await fetchCheckpoint(admin.client, tenant.orgId)
  await seal(target.context)
  const here = createClient({ baseUrl: target.url, credential: { bearer: admin.bearer } })
  const { findings, size } = await verifyTrail(here, tenant.orgId)
  expect(findings).toEqual([])
  expect(size).toBeGreaterThan(before.parsed.size)
  const { entries } = await here.audit.list({ params: { orgId: tenant.orgId }, query: { action: 'org.restored' } })
  expect(entries).toMatchObject([{ actorType: 'system', resourceId: tenant.orgId }])
})
