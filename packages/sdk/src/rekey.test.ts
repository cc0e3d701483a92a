import { isReader } from '@skerry/contract/grants/readers'
import { openDetails, sealDetails } from '@skerry/crypto/details'
import { newId } from '@skerry/crypto/random'
import { importDek, newDek, openSecret } from '@skerry/crypto/secret'
import { type NewToken, newToken } from '@skerry/crypto/token'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { type Reply, startServer } from '../test/server.ts'
import { app, fast, ids, now, refuse, scope } from '../test/world.ts'
import { type Cache, memoryCache } from './cache.ts'
import { createClient } from './client.ts'
import { environmentKey, environmentKeyOf } from './environment-key.ts'
import { rekeyEnvironment } from './environments.ts'
import { rewriteIfRekeyed, sealFor } from './secrets.ts'
import { createSkerry } from './skerry.ts'

const { orgId, envId } = ids
const place = { orgId, envId }
const keepingAll = { ...place, keeps: () => true }
const me = await newToken('skerry')
const colleague = await newToken('classic')
const leaver = await newToken('skerry')
const values = { HOST: 'db', EMPTY: '', TEXT: 'héllo\n🌍' }

const unknownPath = JSON.stringify({ error: { code: 'not_found', message: 'no such path' } })

interface Stored {
  name: string
  ciphertext: string
  version: number
}

/** A server that stores one environment, as the real one does, and shows it to `me`. */
async function world() {
  const bytes = newDek()
  const { dek } = await environmentKeyOf(bytes)
  const state = {
    secrets: [] as Stored[],
    wrapped: new Map<string, string>(),
    grantees: [me, colleague],
    /** Readers that are part of the server and have the key. */
    readers: [] as { principalType: 'rotator' | 'sync_connection'; principalId: string; publicKeyJwk: string }[],
    /** Descriptions by name; null on a server that does not know them. */
    descriptions: {} as Record<string, string> | null,
    /** Called before a re-key is processed. If it returns a reply, the server sends that reply. */
    before: undefined as (() => Reply | undefined | Promise<Reply | undefined>) | undefined,
  }
  for (const { tokenId, publicKeyJwk } of [me, colleague, leaver])
    state.wrapped.set(tokenId, await wrapKey(bytes, publicKeyJwk))
  for (const [name, value] of Object.entries(values))
    state.secrets.push({ name, ciphertext: await sealFor(envId, name, value, dek), version: 3 })

  const server = await startServer(`Bearer ${me.bearer}`)
  const environment = {
    id: envId,
    applicationId: ids.appId,
    groupId: null,
    parentEnvironmentId: null,
    name: 'Production',
    slug: 'production',
    expiresAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const shown = (one: Stored) => ({ id: newId('secret'), environmentId: envId, createdAt: now, updatedAt: now, ...one })
  const principalType = 'service_token'
  server.on('me.get', () => ({
    json: { user: null, orgs: [], principal: { type: principalType, id: me.tokenId }, session: null },
  }))
  server.on('grants.own', () => ({ json: { wrappedDek: state.wrapped.get(me.tokenId) } }))
  server.on('grants.list', () => {
    const grants = [...state.wrapped].map(([principalId, wrappedDek]) => {
      return {
        id: newId('keyGrant'),
        environmentId: envId,
        principalType,
        principalId,
        wrappedDek,
        createdAt: now,
        endsAt: null,
      }
    })
    const ofReaders = state.readers.map(({ principalType, principalId }) => {
      const wrappedDek = state.wrapped.get(me.tokenId) as string
      return {
        id: newId('keyGrant'),
        environmentId: envId,
        principalType,
        principalId,
        wrappedDek,
        createdAt: now,
        endsAt: null,
      }
    })
    return { json: { grants: [...grants, ...ofReaders], nextCursor: null } }
  })
  server.on('envs.grantees', () => {
    const grantees = state.grantees.map(({ tokenId, publicKeyJwk }) => {
      return { principalType, principalId: tokenId, name: null, publicKeyJwk }
    })
    const readers = state.readers.map((reader) => ({ ...reader, name: null }))
    return { json: { grantees: [...grantees, ...readers], nextCursor: null } }
  })
  server.on('secrets.list', () => ({ json: { secrets: state.secrets.map(shown), nextCursor: null } }))
  server.on('secretDetails.list', () => {
    if (state.descriptions === null) return { status: 404, text: unknownPath }
    const by = { updatedByType: principalType, updatedById: me.tokenId, updatedAt: now }
    const noted = { environmentId: envId, ownerId: null, expiresAt: null, notNeeded: false, revision: 4, ...by }
    const details = Object.entries(state.descriptions).map(([name, sealed]) => ({ ...noted, name, sealed }))
    return { json: { details, nextCursor: null } }
  })
  server.on('secrets.put', ({ params, body }) => {
    const { ciphertext } = body as { ciphertext: string }
    const old = state.secrets.find(({ name }) => name === params.name)
    const secret = { name: params.name as string, ciphertext, version: (old?.version ?? 0) + 1 }
    state.secrets = [...state.secrets.filter((one) => one !== old), secret]
    return { json: { secret: shown(secret) } }
  })
  server.on('rekey.run', async ({ body }) => {
    const refused = await state.before?.()
    if (refused) return refused
    const asked = body as {
      expectedVersions: Record<string, number>
      grants: { principalId: string; wrappedDek: string }[]
      secrets: Stored[]
    }
    const moved = state.secrets.find(({ name, version }) => asked.expectedVersions[name] !== version)
    if (moved) return refuse(409, 'conflict')
    state.secrets = asked.secrets.map((one) => ({ ...one, version: (asked.expectedVersions[one.name] ?? 0) + 1 }))
    state.wrapped = new Map(asked.grants.map(({ principalId, wrappedDek }) => [principalId, wrappedDek]))
    return { json: { environment, rekeyedSecrets: asked.secrets.length, grants: asked.grants.length } }
  })
  server.on('resolve.get', ({ headers }) => {
    const wrappedDek = state.wrapped.get(me.tokenId) as string
    const etag = `"${wrappedDek.slice(-20)}"`
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    const secrets = state.secrets.map(({ name, ciphertext }) => ({ name, ciphertext }))
    return { json: { scope, layers: [{ ...app, wrappedDek, secrets }] }, headers: { etag } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: me.bearer }, ...fast })
  const posts = () => server.requests.filter(({ line }) => line.startsWith('POST'))
  return { state, server, client, bytes, posts }
}

type World = Awaited<ReturnType<typeof world>>

/** Decrypts the stored secrets with the key of one holder. */
async function readBy({ state }: World, { tokenId, privateKey }: NewToken) {
  const dek = await importDek(await unwrapKey(state.wrapped.get(tokenId) as string, privateKey))
  const read = state.secrets.map(async ({ name, ciphertext }) => [name, await openSecret(ciphertext, dek, envId, name)])
  return Object.fromEntries(await Promise.all(read))
}

describe('a re-key', () => {
  test('leaves every value readable for those who keep access, under a new key', async () => {
    const it = await world()
    const old = it.state.secrets
    const { key, rekeyedSecrets, kept, lost } = await rekeyEnvironment(it.client, keepingAll, me)
    expect(await readBy(it, me)).toEqual(values)
    expect(await readBy(it, colleague)).toEqual(values)
    expect(key.bytes).not.toEqual(it.bytes)
    expect(rekeyedSecrets).toBe(3)
    expect([kept, lost].map((list) => list.map(({ principalId }) => principalId))).toEqual([
      [me.tokenId, colleague.tokenId],
      [leaver.tokenId],
    ])
    for (const [index, { name, ciphertext }] of it.state.secrets.entries()) {
      expect(ciphertext).not.toBe(old[index]?.ciphertext)
      const underOld = openSecret(ciphertext, await importDek(it.bytes), envId, name)
      await expect(underOld).rejects.toMatchObject({ code: 'decryption_failed' })
    }
  })

  test('encrypts every description under the new key, and drops one that does not open', async () => {
    const it = await world()
    const text = { description: 'Reads the bucket', tags: ['google'] }
    const sealed = await sealDetails(text, await importDek(it.bytes), envId, 'HOST')
    it.state.descriptions = { HOST: sealed, EMPTY: sealed }
    const { key } = await rekeyEnvironment(it.client, keepingAll, me)
    const { details } = it.posts().at(-1)!.body as { details: { sealed: string }[] }
    const [host, other] = details
    expect(await openDetails(host?.sealed as string, key.dek, envId, 'HOST')).toEqual(text)
    expect([host, other]).toMatchObject([
      { name: 'HOST', expectedRevision: 4 },
      { name: 'EMPTY', sealed: null, expectedRevision: 4 },
    ])
  })

  test('sends no descriptions to an older server, which would refuse them', async () => {
    const it = await world()
    it.state.descriptions = null
    await rekeyEnvironment(it.client, keepingAll, me)
    expect(it.posts().at(-1)?.body).not.toHaveProperty('details')
  })

  test('sends no key and no value in plaintext', async () => {
    const it = await world()
    const { key } = await rekeyEnvironment(it.client, keepingAll, me)
    const sent = JSON.stringify(it.server.requests)
    for (const bytes of [key.bytes, it.bytes]) expect(sent).not.toContain(Buffer.from(bytes).toString('base64url'))
    expect(sent).not.toContain('héllo')
  })

  test('removes everyone whom the caller does not keep, but never the caller', async () => {
    const it = await world()
    await rekeyEnvironment(it.client, { ...place, keeps: () => false }, me)
    expect([...it.state.wrapped.keys()]).toEqual([me.tokenId])
    expect(await readBy(it, me)).toEqual(values)
  })

  test('is refused if the server lists another public key for the caller, or does not list the caller', async () => {
    const it = await world()
    const replaced = [{ ...me, publicKeyJwk: leaver.publicKeyJwk }, colleague]
    const refused = [
      { grantees: replaced, code: 'own_key_replaced' },
      { grantees: [colleague], code: 'conflict' },
    ]
    for (const { grantees, code } of refused) {
      it.state.grantees = grantees
      await expect(rekeyEnvironment(it.client, keepingAll, me)).rejects.toMatchObject({ code, status: null })
    }
    expect(it.posts()).toEqual([])
    expect(await readBy(it, me)).toEqual(values)
  })

  test('also wraps the key to the server’s own readers, and returns which they are', async () => {
    const it = await world()
    it.state.readers = [{ principalType: 'rotator', principalId: orgId, publicKeyJwk: leaver.publicKeyJwk }]
    const { key, readers, lost } = await rekeyEnvironment(it.client, keepingAll, me)
    expect(readers).toEqual([{ principalType: 'rotator', principalId: orgId }])
    expect(lost).toEqual([{ principalType: 'service_token', principalId: leaver.tokenId }])
    const body = it.posts().at(-1)!.body as { grants: { principalType: string; wrappedDek: string }[] }
    const wrapped = body.grants.find(({ principalType }) => principalType === 'rotator')!.wrappedDek
    expect(await unwrapKey(wrapped, leaver.privateKey)).toEqual(key.bytes)
    expect(body).not.toHaveProperty('dropReaders')
  })

  test('names readers of the server that are not kept as dropped', async () => {
    const it = await world()
    const dropped = { principalType: 'sync_connection' as const, principalId: 'syn_1' }
    it.state.readers = [{ ...dropped, publicKeyJwk: leaver.publicKeyJwk }]
    const { readers, lost } = await rekeyEnvironment(it.client, { ...place, keeps: (one) => !isReader(one) }, me)
    expect([readers, lost]).toEqual([[], [expect.objectContaining({ principalId: leaver.tokenId }), dropped]])
    const body = it.posts().at(-1)!.body as { grants: unknown[]; dropReaders: unknown[] }
    expect([body.grants.length, body.dropReaders]).toEqual([2, [dropped]])
  })

  test('also wraps the key to the recovery key, if there is one', async () => {
    const it = await world()
    const { key } = await rekeyEnvironment(it.client, { ...keepingAll, recoveryPublicKeyJwk: leaver.publicKeyJwk }, me)
    const { recoveryWrappedDek } = it.posts().at(-1)!.body as { recoveryWrappedDek: string }
    expect(await unwrapKey(recoveryWrappedDek, leaver.privateKey)).toEqual(key.bytes)
  })

  test('starts again if a secret was written meanwhile, and keeps that write', async () => {
    const it = await world()
    it.state.before = async () => {
      it.state.before = undefined
      const ciphertext = await sealFor(envId, 'HOST', 'db2', await importDek(it.bytes))
      it.state.secrets = it.state.secrets.map((one) => (one.name === 'HOST' ? { ...one, ciphertext, version: 4 } : one))
      return undefined
    }
    await rekeyEnvironment(it.client, keepingAll, me)
    expect(await readBy(it, colleague)).toEqual({ ...values, HOST: 'db2' })
    expect(it.posts()).toHaveLength(2)
  })

  test('stops after the given number of attempts, and leaves the stored secrets unchanged', async () => {
    const it = await world()
    it.state.before = () => refuse(409, 'conflict')
    await expect(rekeyEnvironment(it.client, { ...keepingAll, attempts: 3 }, me)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(it.posts()).toHaveLength(3)
    expect(await readBy(it, leaver)).toEqual(values)
  })

  test.each([
    ['is refused', 403, 'forbidden'],
    ['fails', 500, 'internal'],
  ])('that %s is not tried again', async (_, status, code) => {
    const it = await world()
    it.state.before = () => refuse(status, code)
    await expect(rekeyEnvironment(it.client, keepingAll, me)).rejects.toMatchObject({ code })
    expect(it.posts()).toHaveLength(1)
  })

  test('is not sent if a secret does not decrypt, and the error names the secret', async () => {
    const it = await world()
    const foreign = await sealFor(envId, 'HOST', 'x', await importDek(newDek()))
    it.state.secrets = it.state.secrets.map((one) => (one.name === 'HOST' ? { ...one, ciphertext: foreign } : one))
    await expect(rekeyEnvironment(it.client, keepingAll, me)).rejects.toMatchObject({
      name: 'DecryptionError',
      secret: 'HOST',
    })
    expect(it.posts()).toEqual([])
  })
})

describe('after a re-key', () => {
  function mapCache(): Cache {
    const kept = new Map<string, string>()
    return {
      read: async (key) => kept.get(key),
      write: async (key, text) => void kept.set(key, text),
      delete: async (key) => void kept.delete(key),
    }
  }
  const open = (it: World, more = {}) =>
    createSkerry({ baseUrl: it.server.baseUrl, token: me.token, env: envId, ...fast, ...more })

  test('a client that has resolved before resolves again, in the same process', async () => {
    const it = await world()
    const skerry = open(it)
    const before = await skerry.resolve()
    await rekeyEnvironment(it.client, keepingAll, me)
    const after = await skerry.resolve()
    expect({ ...after.values }).toEqual(values)
    expect(after.revision).not.toBe(before.revision)
    expect((await skerry.resolve()).revision).toBe(after.revision)
  })

  test('a copy in memory answers with the old state until it expires, and then the new key is used', async () => {
    const it = await world()
    let ms = 0
    const clock = () => ms
    const skerry = open(it, { reuse: memoryCache({ ttlSeconds: 10, now: clock }) })
    await skerry.resolve()
    await rekeyEnvironment(it.client, keepingAll, me)
    expect({ ...(await skerry.resolve()).values }).toEqual(values)
    ms = 10_000
    expect({ ...(await skerry.resolve()).values }).toEqual(values)
    expect(it.server.requests.filter(({ line }) => line.includes('/v1/resolve'))).toHaveLength(2)
  })

  test('an offline copy still decrypts, and the next resolve replaces it', async () => {
    const it = await world()
    const cache = mapCache()
    const first = await open(it, { cache }).resolve()
    await rekeyEnvironment(it.client, keepingAll, me)
    const offline = await open(it, { cache, offline: true }).resolve()
    expect([offline.revision, { ...offline.values }]).toEqual([first.revision, values])
    const live = await open(it, { cache }).resolve()
    const again = await open(it, { cache, offline: true }).resolve()
    expect([live.revision === first.revision, again.revision, { ...again.values }]).toEqual([
      false,
      live.revision,
      values,
    ])
  })
})

describe('after writes, `rewriteIfRekeyed`', () => {
  test('writes values again under the current key if an old key was used, so that they decrypt', async () => {
    const it = await world()
    const key = await environmentKey(it.client, place, me.privateKey)
    await rekeyEnvironment(it.client, keepingAll, me)
    const late = [
      { name: 'HOST', value: 'late' },
      { name: 'NEW', value: 'new' },
    ]
    const written = []
    for (const { name, value } of late) {
      const ciphertext = await sealFor(envId, name, value, key.dek)
      const answer = await it.client.secrets.put({ params: { ...place, name }, body: { ciphertext } })
      if ('secret' in answer) written.push({ name, value, version: answer.secret.version })
    }
    await expect(readBy(it, colleague)).rejects.toMatchObject({ code: 'decryption_failed' })
    const now = await rewriteIfRekeyed(it.client, place, me.privateKey, key, written)
    expect(await readBy(it, colleague)).toEqual({ ...values, HOST: 'late', NEW: 'new' })
    expect(now.map(({ version }) => version)).toEqual([6, 2])
  })

  test('writes nothing if the key is still the same', async () => {
    const it = await world()
    const key = await environmentKey(it.client, place, me.privateKey)
    const written = [{ name: 'HOST', value: 'db', version: 3 }]
    expect(await rewriteIfRekeyed(it.client, place, me.privateKey, key, written)).toEqual(written)
    expect(it.server.requests.every(({ line }) => line.startsWith('GET'))).toBe(true)
  })
})
