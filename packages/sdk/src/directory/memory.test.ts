import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { unwrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import {
  type DirectoryWorld,
  directoryWorld,
  lines,
  mapCache,
  name,
  openMemory,
  openPinned,
  refusal,
  start,
} from '../../test/directory-world.ts'
import { app, ids, layer, openSkerry } from '../../test/world.ts'
import { createKnownState } from '../known-state.ts'
import { processMemory } from './memory.ts'

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

  test('of a key needs nobody’s consent for another key that was signed, and refuses one without a directory', async () => {
    const world = await directoryWorld()
    const store = mapCache().cache
    const knownState = () =>
      createKnownState({ store, baseUrl: world.server.baseUrl, principalId: world.reader.tokenId })
    await openPinned(world, { knownState: knownState() }).resolve()
    const { publicKeyJwk, privateKey } = world.reader
    world.body.layers[1] = await layer(app, { LEVEL: 'info' }, publicKeyJwk)
    const key = await environmentKeyCommitment(
      app.environmentId,
      await unwrapKey(world.body.layers[1].wrappedDek, privateKey),
    )
    const [own, ...others] = world.entries as [DirectoryWorld['entries'][0], ...DirectoryWorld['entries']]
    await world.signed.sign([{ ...own, value: { ...own.value, key } } as typeof own, ...others], start + 1)
    const bare = { token: world.reader.token, knownState: knownState() }
    await expect(openSkerry(world, bare).resolve()).rejects.toMatchObject({ changes: [{ kind: 'key_changed' }] })
    expect((await openPinned(world, { knownState: knownState() }).resolve()).values.LEVEL).toBe('info')
    expect((await openSkerry(world, bare).resolve()).values.LEVEL).toBe('info')
  })

  test('keeps the newer of two directories', async () => {
    const memory = processMemory()
    const known = { org: ids.orgId, root: { version: 1, hash: 'a' }, time: 5, pins: ['a'] }
    await memory.write(ids.orgId, { ...known, head: { version: 2, hash: 'b' } })
    await memory.write(ids.orgId, { ...known, head: { version: 1, hash: 'c' }, time: 6, pins: ['d'] })
    expect(await memory.read(ids.orgId)).toMatchObject({ head: { version: 2 }, time: 6, pins: ['d', 'a'] })
  })
})
