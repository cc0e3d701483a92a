import { tokenHash } from '@skerry/crypto/digest'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { newDek, openSecret } from '@skerry/crypto/secret'
import { newToken, parseToken } from '@skerry/crypto/token'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { ids, now, refuse } from '../test/world.ts'
import { createClient } from './client.ts'
import { environmentKey, environmentKeyOf, grantEnvironment } from './environment-key.ts'
import { createBranch, createEnvironment } from './environments.ts'
import { sealFor } from './secrets.ts'
import { bootstrapAdmin, createServiceToken } from './tokens.ts'

const { orgId, appId, groupId, envId } = ids
const me = await newToken('skerry')
const colleague = await newToken('skerry')
const org = { id: orgId, name: 'Acme', slug: 'acme', role: 'admin', createdAt: now, updatedAt: now }
const environment = {
  id: envId,
  applicationId: appId,
  groupId: null,
  parentEnvironmentId: null,
  name: 'Production',
  slug: 'production',
  expiresAt: null,
  createdAt: now,
  updatedAt: now,
}

async function world() {
  const server = await startServer(`Bearer ${me.bearer}`)
  const principal = { type: 'service_token', id: me.tokenId }
  server.on('me.get', () => ({ json: { user: null, orgs: [org], principal, session: null } }))
  server.on('tokens.create', ({ body }) => {
    const { tokenId, tokenHash, ...row } = body as Record<string, string>
    const dates = { lastUsedAt: null, revokedAt: null, createdAt: now }
    const creator = { createdByType: 'service_token', createdById: me.tokenId }
    const token = { environmentId: null, expiresAt: null, ...row, id: tokenId, orgId, ...creator, ...dates }
    return { status: 201, json: { token } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: me.bearer } })
  return { server, client, sent: () => server.requests.at(-1)!.body as Record<string, string> }
}

describe('an environment’s key', () => {
  test('opens for a holder of a grant, and encrypts a value for one name only', async () => {
    const { server, client } = await world()
    const bytes = newDek()
    const wrappedDek = await wrapKey(bytes, me.publicKeyJwk)
    server.on('grants.own', () => ({ json: { wrappedDek } }))
    const key = await environmentKey(client, { orgId, envId }, me.privateKey)
    expect(key.bytes).toEqual(bytes)
    const ciphertext = await sealFor(envId, 'NAME', 'value', key.dek)
    expect(await openSecret(ciphertext, key.dek, envId, 'NAME')).toBe('value')
    await expect(openSecret(ciphertext, key.dek, envId, 'OTHER')).rejects.toMatchObject({ code: 'decryption_failed' })
  })

  test('is refused without a grant, and does not open from a grant for somebody else', async () => {
    const { server, client } = await world()
    server.on('grants.own', () => refuse(403, 'forbidden'))
    await expect(environmentKey(client, { orgId, envId }, me.privateKey)).rejects.toMatchObject({ code: 'forbidden' })
    const wrappedDek = await wrapKey(newDek(), colleague.publicKeyJwk)
    server.on('grants.own', () => ({ json: { wrappedDek } }))
    const failure = { name: 'DecryptionError', layer: envId }
    await expect(environmentKey(client, { orgId, envId }, me.privateKey)).rejects.toMatchObject(failure)
  })

  test('of the wrong length is refused, so that nothing is encrypted under it', async () => {
    const { server, client } = await world()
    const wrappedDek = await wrapKey(new Uint8Array(16), me.publicKeyJwk)
    server.on('grants.own', () => ({ json: { wrappedDek } }))
    await expect(environmentKey(client, { orgId, envId }, me.privateKey)).rejects.toMatchObject({ layer: envId })
  })

  test('reaches a grantee wrapped, and the server never sees it', async () => {
    const { server, client, sent } = await world()
    server.on('grants.create', ({ body }) => ({
      status: 201,
      json: {
        grant: { id: newId('keyGrant'), environmentId: envId, createdAt: now, endsAt: null, ...(body as object) },
      },
    }))
    const { bytes } = await environmentKeyOf(newDek())
    const { tokenId, publicKeyJwk, privateKey } = colleague
    const who = { principalType: 'service_token', principalId: tokenId, publicKeyJwk } as const
    expect(await grantEnvironment(client, { orgId, envId, ...who }, bytes)).toMatchObject({ principalId: tokenId })
    expect(await unwrapKey(sent().wrappedDek!, privateKey)).toEqual(bytes)
    expect(Object.keys(sent()).sort()).toEqual(['principalId', 'principalType', 'wrappedDek'])
  })
})

describe('a new environment', () => {
  test.each([
    ['an application', 'apps.createEnv', { appId }],
    ['a group', 'groups.createEnv', { groupId }],
  ] as const)('of %s has a fresh key, wrapped to its creator', async (_, operation, owner) => {
    const { server, client, sent } = await world()
    server.on(operation, () => ({ status: 201, json: { environment } }))
    const place = { orgId, ...owner, name: 'Production', slug: 'production' }
    const one = await createEnvironment(client, place, me.publicKeyJwk)
    expect(await unwrapKey(sent().wrappedDek!, me.privateKey)).toEqual(one.key.bytes)
    expect(one.environment).toEqual(environment)
    const two = await createEnvironment(client, place, me.publicKeyJwk)
    expect(two.key.bytes).not.toEqual(one.key.bytes)
  })

  test('has its key also wrapped to the recovery key, if there is one', async () => {
    const { server, client, sent } = await world()
    server.on('apps.createEnv', () => ({ status: 201, json: { environment } }))
    const recoveryPublicKeyJwk = colleague.publicKeyJwk
    const place = { orgId, appId, name: 'Production', slug: 'production', recoveryPublicKeyJwk }
    const { key } = await createEnvironment(client, place, me.publicKeyJwk)
    expect(await unwrapKey(sent().recoveryWrappedDek!, colleague.privateKey)).toEqual(key.bytes)
  })
})

describe('a new branch', () => {
  const grantees = [me, colleague].map(({ tokenId, publicKeyJwk }) => ({
    principalType: 'service_token',
    principalId: tokenId,
    name: null,
    publicKeyJwk,
  }))
  const branch = { ...environment, id: ids.branchId, parentEnvironmentId: envId, slug: 'pr-7' }
  const answered = async (list = grantees) => {
    const { server, client } = await world()
    server.on('envs.grantees', () => ({ json: { grantees: list, nextCursor: null } }))
    server.on('branches.create', () => ({ status: 201, json: { branch } }))
    const sent = () => server.requests.at(-1)!.body as { wrappedDek: string; grants: Record<string, string>[] }
    return { client, sent, server }
  }

  test('is readable for its creator and for every reader of the parent, with one grant each', async () => {
    const { client, sent } = await answered()
    const reads = () => true
    const { key } = await createBranch(client, { orgId, envId, slug: 'pr-7', reads }, me.publicKeyJwk)
    expect(await unwrapKey(sent().wrappedDek, me.privateKey)).toEqual(key.bytes)
    expect(sent().grants.map(({ principalId }) => principalId)).toEqual([colleague.tokenId])
    expect(await unwrapKey(sent().grants[0]!.wrappedDek!, colleague.privateKey)).toEqual(key.bytes)
  })

  test('is readable for fewer people if `reads` says so', async () => {
    const { client, sent } = await answered()
    const reads = ({ principalId }: { principalId: string }) => principalId !== colleague.tokenId
    await createBranch(client, { orgId, envId, slug: 'pr-7', ttlSeconds: null, reads }, me.publicKeyJwk)
    expect(sent()).toMatchObject({ grants: [], ttlSeconds: null })
  })

  test('is not created for a grantee with an invalid key, or for too many grantees', async () => {
    const { client, server } = await answered([{ ...grantees[1]!, publicKeyJwk: '{}' }])
    const place = { orgId, envId, slug: 'pr-7', reads: () => true }
    await expect(createBranch(client, place, me.publicKeyJwk)).rejects.toMatchObject({ code: 'malformed_key' })
    const crowd = Array.from({ length: 201 }, () => ({ ...grantees[1]!, principalId: newId('serviceToken') }))
    server.on('envs.grantees', () => ({ json: { grantees: crowd, nextCursor: null } }))
    await expect(createBranch(client, place, me.publicKeyJwk)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(server.requests.some(({ line }) => line.startsWith('POST'))).toBe(false)
  })
})

describe('a new service token', () => {
  test.each(['skerry', 'classic'] as const)(
    'in %s format is created on this machine, and the server gets only its id, hash and public key',
    async (format) => {
      const { server, client, sent } = await world()
      const settings = { orgId, name: 'web', environmentId: envId, format }
      const { token, serviceToken, parsed } = await createServiceToken(client, settings)
      const read = await parseToken(token)
      expect(sent()).toEqual({
        name: 'web',
        role: 'member',
        environmentId: envId,
        tokenId: read.tokenId,
        tokenHash: await tokenHash(read.bearer),
        publicKeyJwk: publicKeyJwkOf(read.privateKey),
      })
      expect(JSON.stringify(server.requests)).not.toContain(token)
      expect([serviceToken.id, parsed.format]).toEqual([read.tokenId, format])
    },
  )

  test('has the admin role if a machine starts with only its client credentials', async () => {
    const { client, sent } = await world()
    const { token, parsed } = await bootstrapAdmin(client, { name: 'ci' })
    expect(sent()).toMatchObject({ role: 'admin', name: 'ci', tokenId: parsed.tokenId })
    expect(token.startsWith(parsed.tokenId)).toBe(true)
  })

  test('needs the id of the organization unless there is exactly one', async () => {
    const { server, client } = await world()
    for (const orgs of [[], [org, { ...org, id: newId('organization') }]]) {
      server.on('me.get', () => ({
        json: { user: null, orgs, principal: { type: 'm2m', id: 'm2m_x' }, session: null },
      }))
      await expect(bootstrapAdmin(client, { name: 'ci' })).rejects.toMatchObject({ code: 'not_found' })
    }
    await bootstrapAdmin(client, { name: 'ci', orgId })
  })
})
