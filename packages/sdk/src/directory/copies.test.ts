import { describe, expect, test } from 'vitest'
import {
  day,
  directoryWorld,
  mapCache,
  name,
  openMemory,
  openPinned,
  refusal,
  start,
  worker,
} from '../../test/directory-world.ts'
import { ids, openSkerry, refuse } from '../../test/world.ts'
import { watch } from '../watch.ts'

describe('a stored copy', () => {
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

  test('stays when a server knows no proofs, because a lying server could pretend to be of an earlier release', async () => {
    const world = await directoryWorld()
    const { cache, kept } = mapCache()
    await openPinned(world, { cache }).resolve()
    const before = [...kept]
    const answerWith = (message: string) => ({
      status: 400,
      text: JSON.stringify({ error: { code: 'invalid_request', message } }),
    })
    world.answer = () => answerWith('query: unknown field "proof"')
    expect(await refusal(world, { cache })).toMatchObject({
      code: 'directory_missing',
      came: 'the refusal of a server that knows no directories',
    })
    expect([...kept]).toEqual(before)
    world.answer = () => answerWith('query.env: the token is bound to none')
    expect(await refusal(world)).toMatchObject({ code: 'invalid_request' })
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
