import { encodeUtf8 } from '@skerry/crypto/base64url'
import { makeBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import type { KnownDirectory } from '@skerry/crypto/directory/verify'
import { newId } from '@skerry/crypto/random'
import { newToken } from '@skerry/crypto/token'
import { unwrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import {
  type DirectoryWorld,
  day,
  directoryWorld,
  name,
  openPinned,
  openSigned,
  showDirectory,
  start,
} from '../../test/directory-world.ts'
import { app, branch, branchBody, ids, layer, openSkerry, refuse, resolveWorld } from '../../test/world.ts'
import type { Cache } from '../cache.ts'
import type { SkerrySettings } from '../skerry.ts'
import { watch } from '../watch.ts'
import { type DirectoryMemory, newerDirectory, processMemory } from './memory.ts'

const refusal = (world: DirectoryWorld, settings: Partial<SkerrySettings> = {}) =>
  openPinned(world, settings)
    .resolve()
    .then(
      () => undefined,
      (error) => error,
    )

/** A memory that the test can read. */
function openMemory() {
  const kept = new Map<string, KnownDirectory>()
  const memory: DirectoryMemory = {
    read: async (orgId) => kept.get(orgId) ?? null,
    write: async (orgId, known) => void kept.set(orgId, newerDirectory(known, kept.get(orgId) ?? null)),
  }
  return { kept, memory }
}

const lines = ({ server }: DirectoryWorld) => server.requests.map(({ line }) => line)

describe('a token with a pin', () => {
  test('gets the values of an honest server, and sends nothing after the first dot', async () => {
    const world = await directoryWorld()
    const { values } = await openPinned(world).resolve()
    expect(values).toEqual({ HOST: 'db', LEVEL: 'debug', URL: 'postgres://db' })
    const sent = JSON.stringify(world.server.requests)
    const root = world.signed.roots[0]!.document.hash
    expect(lines(world)).toEqual([`GET /v1/resolve?proof=1&root=${root}`])
    expect(sent).not.toContain(world.pinned)
    expect(world.server.requests[0]!.headers.authorization).toBe(`Bearer ${world.reader.bearer}`)
  })

  test('is refused by a client that asks for another environment', async () => {
    const world = await directoryWorld()
    const error = await refusal(world, { directory: { name: 'web/staging' } })
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(name) })
    expect(lines(world)).toEqual([])
  })

  test('without a name learns it from its own signed entry', async () => {
    const world = await directoryWorld()
    const [token, pin] = world.pinned.split('.')
    const { values } = await openPinned(world, { token: `${token}.${pin}` }).resolve()
    expect(values.HOST).toBe('db')
    expect(lines(world)[1]).toContain(`key=token%2F${world.reader.tokenId}`)
  })
})

const lies: [what: string, code: string, lie: (world: DirectoryWorld) => void | Promise<void>][] = [
  [
    'no directory',
    'directory_missing',
    (world) => {
      world.isSilent = true
    },
  ],
  [
    'an answer that ignores the question',
    'directory_missing',
    (world) => {
      world.answer = () => ({ json: world.body })
    },
  ],
  [
    'another id',
    'directory_mismatch',
    async (world) => {
      const envId = newId('environment')
      const { publicKeyJwk } = world.reader
      world.body.scope.envId = envId
      world.body.layers[1] = await layer({ ...app, environmentId: envId }, { LEVEL: 'evil' }, publicKeyJwk)
    },
  ],
  [
    'another key',
    'directory_mismatch',
    async (world) => {
      world.body.layers[1] = await layer(app, { LEVEL: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  [
    'another key of a group',
    'directory_mismatch',
    async (world) => {
      const { wrappedDek: _, secrets: __, ...place } = world.body.layers[0]!
      world.body.layers[0] = await layer(place, { HOST: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  [
    'another id of a group',
    'directory_mismatch',
    async (world) => {
      const { wrappedDek: _, secrets: __, ...place } = world.body.layers[0]!
      const other = { ...place, environmentId: newId('environment') }
      world.body.layers[0] = await layer(other, { HOST: 'evil' }, world.reader.publicKeyJwk)
    },
  ],
  ['a missing layer', 'directory_mismatch', (world) => void world.body.layers.shift()],
  [
    'another application’s name',
    'directory_mismatch',
    (world) => {
      world.body.scope.appSlug = 'other'
    },
  ],
  [
    'a branch that nobody asked for',
    'directory_mismatch',
    async (world) => void Object.assign(world.body, await branchBody(world.reader.publicKeyJwk)),
  ],
  [
    'another organization',
    'directory_mismatch',
    (world) => {
      world.body.scope.orgId = newId('organization')
    },
  ],
  [
    'the proof of another name',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => {
        const [own, group] = shown.proofs as [(typeof shown.proofs)[0], (typeof shown.proofs)[0]]
        const entry = group.entry.replace('environment/shared:production', `environment/${name}`)
        return {
          ...shown,
          proofs: [
            { ...group, entry },
            { ...own, entry },
          ],
        }
      }
    },
  ],
  [
    'no proof of the environment',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => ({ ...shown, proofs: shown.proofs.slice(1) })
    },
  ],
  [
    'no proof of a group',
    'directory_unproven',
    (world) => {
      world.lie = (shown) => ({ ...shown, proofs: shown.proofs.slice(0, 1) })
    },
  ],
  [
    'the proof of another head',
    'directory_unproven',
    async (world) => {
      const other = await openSigned([...world.entries, { key: `worker/${ids.orgId}`, value: worker }])
      world.lie = (shown) => ({ ...shown, proofs: showDirectory(other, { keys: [`environment/${name}`] }).proofs })
    },
  ],
  [
    'the directory of another signer',
    'directory_unpinned',
    async (world) => {
      const forged = await openSigned(world.entries)
      world.lie = () => showDirectory(forged, { keys: world.entries.map(({ key }) => key) })
    },
  ],
  [
    'a head that nobody signed',
    'directory_unsigned',
    async (world) => {
      const forged = await openSigned(world.entries)
      const { document, tree } = world.signed.heads[0]!
      const [prefix, body] = world.signed.heads[0]!.text.split('.')
      const signatures = forged.heads[0]!.text.split('.')[2]
      expect(document.body.count).toBe(tree.count)
      world.lie = (shown) => ({ ...shown, heads: [[prefix, body, signatures].join('.')] })
    },
  ],
  [
    'no roots',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: [] })
    },
  ],
  [
    'no heads',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, heads: [] })
    },
  ],
  [
    'garbage',
    'malformed_answer',
    (world) => {
      world.lie = () => 'garbage'
    },
  ],
  [
    'a list of numbers',
    'malformed_answer',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: [1, null] })
    },
  ],
  [
    'texts that are no documents',
    'directory_malformed',
    (world) => {
      world.lie = (shown) => ({ ...shown, roots: ['or1.e30.W10'] })
    },
  ],
  [
    'an old head',
    'directory_stale',
    (world) => {
      world.clock.ms = (start + 31 * day) * 1000
    },
  ],
  [
    'a head from the future',
    'directory_from_future',
    (world) => {
      world.clock.ms = (start - 601) * 1000
    },
  ],
]

const worker = { kid: `${'_'.repeat(42)}A`, heldBy: 'server' } as const

describe('a client with a pin refuses', () => {
  test.each(lies)('%s', async (_, code, lie) => {
    const world = await directoryWorld()
    await lie(world)
    expect(await refusal(world)).toMatchObject({ code })
  })

  test('an answer, and says what it expected, what came, and who could have signed it', async () => {
    const world = await directoryWorld()
    const listed = world.body.layers.shift()!
    const error = await refusal(world)
    expect(error).toBeInstanceOf(DirectoryError)
    expect(error).toMatchObject({
      expected: `${name} with ${listed.groupSlug}:${listed.slug}`,
      came: 'no group',
      signers: [world.signed.person],
    })
    expect(error.message).toContain(world.signed.person)
  })
})

describe('the layers of an answer', () => {
  const added = async (world: DirectoryWorld) => {
    const place = {
      source: 'group',
      environmentId: newId('environment'),
      slug: 'production',
      groupSlug: 'evil',
    } as const
    world.body.layers.unshift(await layer(place, { HOST: 'evil', ADDED: 'evil' }, world.reader.publicKeyJwk))
  }

  test('leave out a layer that is not listed, with a warning', async () => {
    const world = await directoryWorld()
    await added(world)
    const warnings: string[] = []
    const { values } = await openPinned(world, { warn: (message) => void warnings.push(message) }).resolve()
    expect(values).toEqual({ HOST: 'db', LEVEL: 'debug', URL: 'postgres://db' })
    expect(warnings).toEqual([expect.stringContaining('evil:production')])
  })

  test('are refused with a layer that is not listed, if the client is strict', async () => {
    const world = await directoryWorld()
    await added(world)
    const error = await refusal(world, { directory: { strict: true } })
    expect(error).toMatchObject({ code: 'directory_mismatch', came: 'evil:production, shared:production' })
  })

  test('must be in the listed order', async () => {
    const world = await directoryWorld()
    await added(world)
    const evil = world.body.layers[0]!
    const key = await environmentKeyCommitment(
      evil.environmentId,
      await unwrapKey(evil.wrappedDek, world.reader.privateKey),
    )
    const [own, ...others] = world.entries as [DirectoryWorld['entries'][0], ...DirectoryWorld['entries']]
    const group = { id: evil.environmentId, key, layers: [], readers: worker.kid }
    const listing = (layers: string[]) => ({ ...own, value: { ...own.value, layers } }) as typeof own
    const evilEntry = { key: 'environment/evil:production', value: group } as const
    await world.signed.sign([listing(['evil:production', 'shared:production']), ...others, evilEntry])
    expect((await openPinned(world).resolve()).values.ADDED).toBe('evil')
    await world.signed.sign([listing(['shared:production', 'evil:production']), ...others, evilEntry])
    expect(await refusal(world)).toMatchObject({ code: 'directory_mismatch' })
  })

  test('contain another environment of a listed group only if it was asked for and is signed', async () => {
    const world = await directoryWorld()
    const { publicKeyJwk, privateKey } = world.reader
    const place = {
      source: 'group',
      environmentId: newId('environment'),
      slug: 'staging',
      groupSlug: 'shared',
    } as const
    const staging = await layer(place, { HOST: 'staging' }, publicKeyJwk)
    world.body.layers[0] = staging
    expect(await refusal(world)).toMatchObject({ code: 'directory_mismatch' })
    expect(await refusal(world, { with: ['shared:staging'] })).toMatchObject({ code: 'directory_unproven' })
    const key = await environmentKeyCommitment(place.environmentId, await unwrapKey(staging.wrappedDek, privateKey))
    const value = { id: place.environmentId, key, layers: [], readers: worker.kid }
    await world.signed.sign([...world.entries, { key: 'environment/shared:staging', value }])
    const { values } = await openPinned(world, { with: ['shared:staging'] }).resolve()
    expect(values.HOST).toBe('staging')
  })
})

describe('a branch', () => {
  const withBranch = async (
    manifest?: (parentKey: Uint8Array<ArrayBuffer>, key: string) => Promise<string> | string,
  ) => {
    const world = await directoryWorld()
    const { publicKeyJwk, privateKey } = world.reader
    const one = await layer(branch, { LEVEL: 'trace' }, publicKeyJwk)
    const key = await environmentKeyCommitment(ids.branchId, await unwrapKey(one.wrappedDek, privateKey))
    const parentKey = await unwrapKey(world.body.layers[1]!.wrappedDek, privateKey)
    const text = await manifest?.(parentKey, key)
    world.body.layers.push({ ...one, ...(text === undefined ? {} : { manifest: text }) })
    Object.assign(world.body.scope, { envId: ids.branchId, envSlug: 'pr-7', branchOf: ids.envId })
    return world
  }
  const facts = (key: string) => ({
    id: ids.branchId,
    parent: ids.envId,
    name: 'pr-7',
    key,
    expiresAt: start + 2 * day,
  })

  test('is used with a manifest under the key of its parent', async () => {
    const world = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    const { values } = await openPinned(world, { branch: 'pr-7', directory: { strict: true } }).resolve()
    expect(values.LEVEL).toBe('trace')
    expect((await openPinned(world, { branch: ids.branchId }).resolve()).values.LEVEL).toBe('trace')
  })

  test('is refused if it expired, and with a manifest of another key or another branch', async () => {
    const expired = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    expired.clock.ms = (start + 3 * day) * 1000
    expect(await refusal(expired, { branch: 'pr-7' })).toMatchObject({ code: 'authentic_expired' })
    const rekeyed = await withBranch((parentKey) => makeBranchManifest(parentKey, facts(worker.kid)))
    expect(await refusal(rekeyed, { branch: 'pr-7' })).toMatchObject({ code: 'directory_mismatch' })
    const other = await withBranch((parentKey, key) => makeBranchManifest(parentKey, { ...facts(key), name: 'pr-8' }))
    expect(await refusal(other, { branch: 'pr-7' })).toMatchObject({ code: 'not_authentic' })
    const forged = await withBranch((_, key) => makeBranchManifest(encodeUtf8('x'.repeat(32)), facts(key)))
    expect(await refusal(forged, { branch: 'pr-7' })).toMatchObject({ code: 'not_authentic' })
  })

  test('without a manifest is refused', async () => {
    const world = await withBranch()
    expect(await refusal(world, { branch: 'pr-7' })).toMatchObject({ code: 'directory_mismatch', came: 'none' })
  })

  test('with another name than the command gave is refused', async () => {
    const world = await withBranch((parentKey, key) => makeBranchManifest(parentKey, facts(key)))
    const settings = { branch: ids.branchId, directory: { name: `${name}@pr-8` } }
    expect(await refusal(world, settings)).toMatchObject({ code: 'directory_mismatch', expected: 'the branch pr-8' })
  })
})

describe('memory', () => {
  test('of the organization is enough without a pin, and makes the client ask for the proof', async () => {
    const world = await directoryWorld()
    const { memory, kept } = openMemory()
    await openPinned(world, { directory: { memory } }).resolve()
    expect(kept.get(ids.orgId)).toMatchObject({ head: { version: 1 }, root: { version: 1 } })
    const settings = { token: world.reader.token, now: () => world.clock.ms }
    const directory = { memory, name }
    const known = () => openSkerry(world, { ...settings, directory: { ...directory, org: ids.orgId } }).resolve()
    expect((await known()).values.HOST).toBe('db')
    expect(lines(world).at(-1)).toContain('proof=1')
    // The first answer says which organization it is.
    const unknown = () => openSkerry(world, { ...settings, directory }).resolve()
    expect((await unknown()).values.HOST).toBe('db')
    expect(lines(world).slice(-2)).toEqual(['GET /v1/resolve', expect.stringContaining('proof=1')])
    world.isSilent = true
    await expect(known()).rejects.toMatchObject({ code: 'directory_missing' })
    await expect(unknown()).rejects.toMatchObject({ code: 'directory_missing' })
  })

  test('refuses an older head, a fork, and an older root', async () => {
    const world = await directoryWorld()
    const { memory } = openMemory()
    const directory = { memory, org: ids.orgId }
    await world.signed.sign(world.entries, start + 1)
    await openPinned(world, { directory }).resolve()
    const newest = world.signed.heads.pop()!
    expect(await refusal(world, { directory })).toMatchObject({ code: 'directory_rolled_back' })
    await world.signed.sign(world.entries.slice(0, 2), start + 1)
    expect(await refusal(world, { directory })).toMatchObject({ code: 'directory_rolled_back' })
    world.signed.heads.splice(1, 1, newest)
    await world.signed.changeRoot({}, start + 2)
    await world.signed.sign(world.entries, start + 2)
    await openPinned(world, { directory }).resolve()
    world.signed.roots.pop()
    world.signed.heads.pop()
    expect(await refusal(world, { directory })).toMatchObject({ code: 'directory_rolled_back' })
  })

  test('follows the chain of heads and roots', async () => {
    const world = await directoryWorld()
    const { memory, kept } = openMemory()
    const directory = { memory, org: ids.orgId }
    await openPinned(world, { directory }).resolve()
    await world.signed.changeRoot({}, start + 2)
    for (const after of [3, 4, 5]) await world.signed.sign(world.entries, start + after)
    await openPinned(world, { directory }).resolve()
    expect(kept.get(ids.orgId)).toMatchObject({ head: { version: 4 }, root: { version: 2 }, time: start + 5 })
  })

  test('keeps the newer of two directories', async () => {
    const memory = processMemory()
    const known = { org: ids.orgId, root: { version: 1, hash: 'a' }, time: 5, pins: ['a'] }
    await memory.write(ids.orgId, { ...known, head: { version: 2, hash: 'b' } })
    await memory.write(ids.orgId, { ...known, head: { version: 1, hash: 'c' }, time: 6, pins: ['d'] })
    expect(await memory.read(ids.orgId)).toMatchObject({ head: { version: 2 }, time: 6, pins: ['d', 'a'] })
  })
})

test('a client without a pin and without memory sends the requests that it always sent', async () => {
  const world = await directoryWorld()
  const { memory } = openMemory()
  const bare = await resolveWorld()
  for (const [one, settings] of [
    [world, { directory: { memory, name } }],
    [bare, {}],
  ] as const) {
    const { values } = await openSkerry(one, settings).resolve()
    expect(values.HOST).toBe('db')
    expect(one.server.requests.map(({ line }) => line)).toEqual(['GET /v1/resolve'])
  }
  expect(Object.keys(world.server.requests[0]!.headers)).toEqual(Object.keys(bare.server.requests[0]!.headers))
})

describe('a stored copy', () => {
  const mapCache = () => {
    const kept = new Map<string, string>()
    const cache: Cache = {
      read: async (key) => kept.get(key),
      write: async (key, text) => void kept.set(key, text),
      delete: async (key) => void kept.delete(key),
    }
    return { kept, cache }
  }

  test('is verified again, and used while the server is down', async () => {
    const world = await directoryWorld()
    const { cache } = mapCache()
    await openPinned(world, { cache }).resolve()
    world.answer = () => refuse(503, 'internal')
    expect(await openPinned(world, { cache }).resolve()).toMatchObject({ stale: true, values: { HOST: 'db' } })
    expect((await openPinned(world, { cache, offline: true }).resolve()).values.HOST).toBe('db')
    world.clock.ms = (start + 31 * day) * 1000
    const old = { cache, maxAgeSeconds: 40 * day }
    expect(await refusal(world, old)).toMatchObject({ code: 'directory_stale' })
  })

  test('is neither deleted nor renewed by an answer that fails its proof', async () => {
    const world = await directoryWorld()
    const { cache, kept } = mapCache()
    await openPinned(world, { cache }).resolve()
    const before = [...kept]
    world.isSilent = true
    expect(await refusal(world, { cache })).toMatchObject({ code: 'directory_missing' })
    expect([...kept]).toEqual(before)
  })

  test('that was stored without a proof is not used', async () => {
    const world = await directoryWorld()
    const { cache } = mapCache()
    const { memory } = openMemory()
    const settings = { token: world.reader.token, cache, now: () => world.clock.ms }
    await openSkerry(world, { ...settings, directory: { memory, name } }).resolve()
    await openPinned(world, { directory: { memory } }).resolve()
    world.answer = () => refuse(503, 'internal')
    await expect(openSkerry(world, { ...settings, directory: { memory, name } }).resolve()).rejects.toMatchObject({
      code: 'internal',
    })
  })

  test('is confirmed by a 304 only while its head is the newest that the client knows', async () => {
    const world = await directoryWorld()
    const { cache } = mapCache()
    const { memory } = openMemory()
    const open = () => openPinned(world, { cache, directory: { memory, org: ids.orgId } }).resolve()
    await open()
    await open()
    const confirmed = await open()
    expect(confirmed).toMatchObject({ stale: false, values: { HOST: 'db' } })
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBeDefined()
    // Another process has verified a later head.
    await world.signed.sign(world.entries, start + 5)
    await openPinned(world, { directory: { memory, org: ids.orgId } }).resolve()
    await open()
    expect(world.server.requests.at(-1)!.headers['if-none-match']).toBeUndefined()
  })

  test('cannot be opened under another pin', async () => {
    const world = await directoryWorld()
    const { cache } = mapCache()
    const { memory } = openMemory()
    const token = world.reader.token
    const [pin] = world.signed.pin.split('@')
    const open = (pins: string[]) =>
      openSkerry(world, { token, cache, now: () => world.clock.ms, directory: { pins, memory, name } }).resolve()
    await open([pin!])
    world.answer = () => refuse(503, 'internal')
    await expect(open([worker.kid])).rejects.toMatchObject({ code: 'directory_unpinned' })
  })
})

test('a watch reports no change when only the directory grows, and goes on after an answer that fails its proof', async () => {
  const world = await directoryWorld()
  const skerry = openPinned(world)
  const { revision } = await skerry.resolve()
  await world.signed.sign(world.entries, start + 5)
  expect((await skerry.resolve()).revision).toBe(revision)
  const controller = new AbortController()
  const seen: unknown[] = []
  world.isSilent = true
  const done = watch(skerry, {
    intervalSeconds: 1,
    signal: controller.signal,
    onChange: ({ values }) => {
      seen.push(values.LEVEL)
      controller.abort()
    },
    onUnusable: async ({ code }) => {
      seen.push(code)
      world.isSilent = false
    },
  })
  await done
  expect(seen).toEqual(['directory_missing', 'debug'])
})

test('a root that asks for tokens of the split form refuses a classic token', async () => {
  const world = await directoryWorld(await newToken('classic'))
  await world.signed.changeRoot({ minimum: { wrap: 'wd1', token: 'skerry' } }, start + 1)
  await world.signed.sign(world.entries, start + 1)
  const settings = { token: world.reader.token, now: () => world.clock.ms }
  const directory = { pins: [world.signed.pin], name }
  await expect(openSkerry(world, { ...settings, directory }).resolve()).rejects.toMatchObject({
    code: 'directory_too_weak',
  })
})
