import { fingerprint } from '@skerry/crypto/digest'
import { makeBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { newToken } from '@skerry/crypto/token'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type DirectoryWorld,
  day,
  directoryWorld,
  name,
  openMemory,
  openPinned,
  start,
} from '../../test/directory-world.ts'
import { app, ids } from '../../test/world.ts'
import { createClient } from '../client.ts'
import { environmentKey, grantEnvironment } from '../environment-key.ts'
import { createBranch, rekeyEnvironment } from '../environments.ts'
import { putSecret } from '../secrets.ts'
import { openToken } from '../tokens.ts'
import type { WriterDirectory } from './writer.ts'

// A program writes, grants and re-keys while the server lies. It refuses before anything is sealed, and sends nothing.

const { orgId } = ids
const envId = app.environmentId
let world: DirectoryWorld
let wrappedDek: string
beforeEach(async () => {
  world = await directoryWorld()
  wrappedDek = world.body.layers[1]!.wrappedDek
  world.server.on('grants.own', () => ({ json: { wrappedDek } }))
  world.server.on('secrets.put', () => ({ text: '{"secret":{"version":1}}' }))
})

const clientOf = () => createClient({ baseUrl: world.server.baseUrl, credential: { bearer: world.reader.bearer } })
const clock = () => world.clock.ms
const changes = () => world.server.requests.filter(({ line }) => !line.startsWith('GET')).map(({ line }) => line)

/** Writes as a program does that has the token alone, or another trust. */
async function write(directory: WriterDirectory = {}, { token = world.pinned, at = envId } = {}) {
  const { holder } = await openToken(token, directory)
  const timed = holder.directory ? { ...holder, directory: { ...holder.directory, now: clock } } : holder
  const { dek } = await environmentKey(clientOf(), { orgId, envId: at }, timed)
  return putSecret(clientOf(), { orgId, envId: at, name: 'KEY' }, 'planted', dek)
}

/** Expects a refusal, and that nothing was sent. */
async function refused(writing: Promise<unknown>, code = 'directory_mismatch') {
  await expect(writing).rejects.toMatchObject({ code })
  expect(changes()).toEqual([])
}

const forgeKey = async () => {
  wrappedDek = await wrapKey(newDek(), world.reader.publicKeyJwk)
}

describe('a program with a pin', () => {
  test('writes to the signed environment under its signed key', async () => {
    await write()
    expect(changes()).toHaveLength(1)
    expect(changes()[0]).toContain(envId)
  })

  test('refuses a key of the server, and says who could have signed it', async () => {
    await forgeKey()
    const error = await write().catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'directory_mismatch', signers: [world.signed.person] })
    expect(error.message).toContain(`expected ${name} with the key`)
    expect(changes()).toEqual([])
  })

  test('believes the same key without a pin, so that the pin is the reason', async () => {
    await forgeKey()
    await write({}, { token: world.reader.token })
    expect(changes()).toHaveLength(1)
  })

  test('refuses another environment than the one that it names', async () => {
    await refused(write({}, { at: newId('environment') }))
  })

  test('refuses an environment that nobody signed', async () => {
    const pins = [world.signed.pin]
    await refused(write({ pins, name: 'web/staging' }, { token: world.reader.token }))
  })

  test('takes the name from the signed entry of the token', async () => {
    const pins = [world.signed.pin]
    await write({ pins }, { token: world.reader.token })
    await forgeKey()
    world.server.requests.length = 0
    await refused(write({ pins }, { token: world.reader.token }))
  })

  test('must name the environment if it has no token', async () => {
    const { holder } = await openToken(world.reader.token)
    const own = { ...holder, directory: { pins: [world.signed.pin], now: clock } }
    await refused(environmentKey(clientOf(), { orgId, envId }, own), 'invalid_request')
  })

  test('refuses a head of 15 days, under which it still reads', async () => {
    world.clock.ms = (start + 15 * day) * 1000
    expect((await openPinned(world).resolve()).values.LEVEL).toBe('debug')
    await refused(write(), 'directory_stale')
  })

  test('refuses a server that shows no directory', async () => {
    world.server.on('directory.get', () => ({ json: { directory: null } }))
    await refused(write(), 'directory_missing')
  })
})

test('a program with memory refuses a key of the server, and one of another organization', async () => {
  const { memory } = openMemory()
  const settings = { memory, name, org: orgId }
  await write({ ...settings, pins: [world.signed.pin] })
  world.server.requests.length = 0
  await forgeKey()
  await refused(write(settings, { token: world.reader.token }))
  const elsewhere = { ...settings, org: newId('organization') }
  await refused(write(elsewhere, { token: world.reader.token }), 'invalid_request')
})

describe('a branch', () => {
  const { branchId } = ids
  let key: Uint8Array<ArrayBuffer>
  let parentDek: string
  beforeEach(async () => {
    key = newDek()
    parentDek = wrappedDek
    const parentKey = await unwrapKey(parentDek, world.reader.privateKey)
    const facts = { id: branchId, parent: envId, name: 'pr-7', expiresAt: null }
    const manifest = await makeBranchManifest(parentKey, {
      ...facts,
      key: await environmentKeyCommitment(branchId, key),
    })
    const branches = [{ id: branchId, slug: 'pr-7', manifest }]
    world.server.on('branches.list', () => ({ text: JSON.stringify({ branches, nextCursor: null }) }))
    world.server.on('grants.own', async ({ params }) => ({
      json: { wrappedDek: params.envId === branchId ? await wrapKey(key, world.reader.publicKeyJwk) : parentDek },
    }))
  })

  test('is written under the key of its manifest, and under no other', async () => {
    const at = { at: branchId }
    await write({ name: `${name}@pr-7` }, at)
    expect(changes()).toHaveLength(1)
    world.server.requests.length = 0
    key = newDek()
    await refused(write({ name: `${name}@pr-7` }, at))
    await refused(write({ name: `${name}@pr-8` }, at))
  })

  test('is not written if the server replaces the key of its parent', async () => {
    parentDek = await wrapKey(newDek(), world.reader.publicKeyJwk)
    await refused(write({ name: `${name}@pr-7` }, { at: branchId }))
  })
})

describe('a receiver of a key', () => {
  const stranger = newId('user')
  const directoryOf = () => ({ pins: [world.signed.pin], name, now: clock })
  let publicKeyJwk: string
  beforeEach(async () => {
    ;({ publicKeyJwk } = await newToken('skerry'))
    const own = {
      principalType: 'service_token',
      principalId: world.reader.tokenId,
      name: 'ci',
      publicKeyJwk: world.reader.publicKeyJwk,
    }
    const added = { principalType: 'user', principalId: stranger, name: 'eve@example.com', publicKeyJwk }
    world.server.on('envs.grantees', () => ({ json: { grantees: [own, added], nextCursor: null } }))
    world.server.on('me.get', () => ({
      json: { user: null, orgs: [], principal: { type: 'service_token', id: world.reader.tokenId }, session: null },
    }))
    world.server.on('secrets.list', () => ({ json: { secrets: [], nextCursor: null } }))
    world.server.on('grants.list', () => ({ json: { grants: [], nextCursor: null } }))
    world.server.on('directory.claims', () => ({ json: { claims: [], nextCursor: null } }))
  })

  test('whom the server adds gets no key by a grant, a branch or a re-key', async () => {
    const who = { principalType: 'user', principalId: stranger, publicKeyJwk } as const
    const { holder } = await openToken(world.reader.token, directoryOf())
    const privateKey = { ...holder, directory: { ...holder.directory, now: clock } }
    const place = { orgId, envId }
    const own = world.reader.publicKeyJwk
    await refused(grantEnvironment(clientOf(), { ...place, ...who, directory: directoryOf() }, newDek()))
    const reads = () => true
    await refused(createBranch(clientOf(), { ...place, slug: 'pr-7', reads, directory: directoryOf() }, own))
    const keeps = () => true
    await refused(rekeyEnvironment(clientOf(), { ...place, keeps }, { privateKey, publicKeyJwk: own }))
  })

  test('who is signed for the organization, and not for the environment, gets no key by a re-key', async () => {
    const kid = await fingerprint(publicKeyJwk)
    const listed = { key: `person/${stranger}`, value: { email: 'eve@example.com', kid } } as const
    await world.signed.sign([...world.entries, listed], start + 5)
    const { holder } = await openToken(world.reader.token, directoryOf())
    const privateKey = { ...holder, directory: { ...holder.directory, now: clock } }
    const rekeying = { orgId, envId, keeps: () => true }
    await refused(rekeyEnvironment(clientOf(), rekeying, { privateKey, publicKeyJwk: world.reader.publicKeyJwk }))
  })
})
