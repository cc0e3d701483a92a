import { newDek } from '@skerry/crypto/secret'
import { newToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client.ts'
import {
  createBranch,
  type NewBranch,
  type ParentGrantee,
  type Rekeying,
  rekeyEnvironment,
} from '../../src/environments.ts'
import { createLeaseTarget } from '../../src/leases.ts'
import { startServer } from '../server.ts'
import { ids, now } from '../world.ts'

// A server that adds readers of its own to those to whom a program wraps a key. Each test checks what reaches the
// server.

const { orgId, envId, branchId } = ids
const [me, colleague, mallory] = await Promise.all([newToken('skerry'), newToken('skerry'), newToken('skerry')])
const principalType = 'service_token' as const
const shown = ({ tokenId: principalId, publicKeyJwk }: typeof me) => {
  return { principalType, principalId, name: null, publicKeyJwk }
}
/** Accepts the colleague, by id and public key. */
const isColleague = (one: ParentGrantee) =>
  one.principalId === colleague.tokenId && one.publicKeyJwk === colleague.publicKeyJwk

async function world() {
  const server = await startServer(`Bearer ${me.bearer}`)
  const wrappedDek = await wrapKey(newDek(), me.publicKeyJwk)
  const environment = {
    ...{ id: branchId, applicationId: ids.appId, groupId: null, parentEnvironmentId: envId, name: 'x', slug: 'pr-7' },
    ...{ expiresAt: null, createdAt: now, updatedAt: now },
  }
  const principal = { type: principalType, id: me.tokenId }
  server.on('me.get', () => ({ json: { user: null, orgs: [], principal, session: null } }))
  server.on('envs.grantees', () => ({ json: { grantees: [me, colleague, mallory].map(shown), nextCursor: null } }))
  server.on('grants.own', () => ({ json: { wrappedDek } }))
  server.on('grants.list', () => ({ json: { grants: [], nextCursor: null } }))
  server.on('secrets.list', () => ({ json: { secrets: [], nextCursor: null } }))
  server.on('secretDetails.list', () => ({ json: { details: [], nextCursor: null } }))
  server.on('branches.create', () => ({ status: 201, json: { branch: environment } }))
  server.on('rekey.run', () => ({ json: { environment, rekeyedSecrets: 0, grants: 2 } }))
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: me.bearer } })
  const posts = () => server.requests.filter(({ line }) => line.startsWith('POST'))
  const readers = () => (posts()[0]!.body as { grants: { principalId: string }[] }).grants.map((one) => one.principalId)
  return { server, client, posts, readers }
}

test('a reader that the server adds gets neither the key of a branch nor the next key of an environment', async () => {
  const forked = await world()
  await createBranch(forked.client, { orgId, envId, slug: 'pr-7', reads: isColleague }, me.publicKeyJwk)
  expect(forked.readers()).toEqual([colleague.tokenId])
  const rekeyed = await world()
  await rekeyEnvironment(rekeyed.client, { orgId, envId, keeps: isColleague }, me)
  expect(rekeyed.readers()).toEqual([me.tokenId, colleague.tokenId])
})

const accepted = new Map([me, colleague].map(({ tokenId, publicKeyJwk }) => [tokenId, publicKeyJwk]))
const isAccepted = (one: ParentGrantee) => accepted.get(one.principalId) === one.publicKeyJwk

/** The server lists Mallory's key under the caller's id, and answers `callerId` as the id of the caller. */
async function worldOfSwappedKey(callerId: string) {
  const answered = await world()
  const swapped = { ...shown(me), publicKeyJwk: mallory.publicKeyJwk }
  const principal = { type: principalType, id: callerId }
  answered.server.on('me.get', () => ({ json: { user: null, orgs: [], principal, session: null } }))
  answered.server.on('envs.grantees', () => ({ json: { grantees: [swapped, shown(colleague)], nextCursor: null } }))
  const rekey = () => rekeyEnvironment(answered.client, { orgId, envId, keeps: isAccepted }, me)
  const branch = { orgId, envId, slug: 'pr-7', reads: isAccepted }
  return { ...answered, rekey, fork: () => createBranch(answered.client, branch, me.publicKeyJwk) }
}

test('a false public key under the caller’s own id gets no key', async () => {
  const { posts, rekey, fork } = await worldOfSwappedKey(me.tokenId)
  const message = 'the server shows a public key for you that is not yours'
  for (const act of [rekey, fork]) await expect(act()).rejects.toMatchObject({ code: 'own_key_replaced', message })
  expect(posts()).toEqual([])
})

test('a false public key under the caller’s own id gets no key, even if the server tells the caller a different id', async () => {
  const { posts, readers, rekey, fork } = await worldOfSwappedKey(mallory.tokenId)
  const message = 'the server does not list you as a holder of this key'
  await expect(rekey()).rejects.toMatchObject({ code: 'conflict', message })
  expect(posts()).toEqual([])
  await fork()
  expect(readers()).toEqual([colleague.tokenId])
})

test('the caller is recognized by their own public key, whatever id the server shows', async () => {
  const { server, client, readers } = await world()
  const principal = { type: principalType, id: mallory.tokenId }
  server.on('me.get', () => ({ json: { user: null, orgs: [], principal, session: null } }))
  server.on('envs.grantees', () => ({ json: { grantees: [me, colleague].map(shown), nextCursor: null } }))
  await rekeyEnvironment(client, { orgId, envId, keeps: isColleague }, me)
  expect(readers()).toEqual([me.tokenId, colleague.tokenId])
})

test('a program that does not decide who reads wraps the key to nobody', async () => {
  const { client, posts } = await world()
  // @ts-expect-error reads is needed
  const branch: NewBranch = { orgId, envId, slug: 'pr-7' }
  await expect(createBranch(client, branch, me.publicKeyJwk)).rejects.toThrow('reads is not a function')
  // @ts-expect-error keeps is needed
  const place: Rekeying = { orgId, envId }
  await expect(rekeyEnvironment(client, place, me)).rejects.toThrow('keeps is not a function')
  expect(posts()).toEqual([])
})

test('an admin credential is not sent to a provisioner whose key only the server names', async () => {
  const { client, posts } = await world()
  const config = {
    ...({ provider: 'postgres', executor: 'provisioner', provisionerTokenId: mallory.tokenId } as const),
    ...({ connection: { host: 'h', port: 5432, database: 'd' }, accessLevel: 'readonly', schema: 'public' } as const),
  }
  const wish = { orgId, config, adminSecret: 'postgres://a:b@h/d' }
  await expect(createLeaseTarget(client, wish)).rejects.toMatchObject({ code: 'invalid_request' })
  expect(posts()).toEqual([])
})
