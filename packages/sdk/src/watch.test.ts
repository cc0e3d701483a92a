import { newToken } from '@skerry/crypto/token'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { app, fast, layer, refuse, resolveWorld } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { createSkerry, type Resolved } from './skerry.ts'
import { watch } from './watch.ts'

// The waiting between two polls, and nothing else: what `polls` lets pass takes no time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const settings = { intervalSeconds: 1 }

async function watched() {
  const world = await resolveWorld()
  const skerry = createSkerry({ baseUrl: world.server.baseUrl, token: world.reader.token, ...fast })
  const controller = new AbortController()
  const polls = async (count: number) => {
    const until = world.server.requests.length + count
    while (world.server.requests.length < until) await vi.advanceTimersByTimeAsync(100)
  }
  return { world, skerry, controller, polls, signal: controller.signal }
}

test('a watch tells of every change once, and of nothing else', async () => {
  const { world, skerry, controller, polls, signal } = await watched()
  const { revision } = await skerry.resolve()
  const seen: Resolved[] = []
  const done = watch(skerry, { ...settings, revision, signal, onChange: (resolved) => void seen.push(resolved) })
  await polls(3)
  expect(seen).toEqual([])
  world.body.layers[1] = await layer(app, { LEVEL: 'warn' }, world.reader.publicKeyJwk)
  world.etag = '"two"'
  await polls(4)
  controller.abort()
  await done
  expect(seen.map(({ values }) => values.LEVEL)).toEqual(['warn'])
})

test('a watch without a revision begins with what is there', async () => {
  const { skerry, controller, signal } = await watched()
  const seen: Resolved[] = []
  const onChange = (resolved: Resolved) => {
    seen.push(resolved)
    controller.abort()
  }
  await watch(skerry, { ...settings, signal, onChange })
  expect(seen[0]!.values.LEVEL).toBe('debug')
})

test('a watch waits an unavailable server out', async () => {
  const { world, skerry, controller, polls, signal } = await watched()
  const { revision } = await skerry.resolve()
  const failures: string[] = []
  world.answer = () => refuse(500, 'internal')
  const done = watch(skerry, {
    ...settings,
    revision,
    signal,
    onChange: () => expect.unreachable(),
    onUnavailable: ({ code }) => void failures.push(code),
  })
  await polls(3)
  world.answer = undefined
  await polls(2)
  controller.abort()
  await done
  expect(failures.length).toBeGreaterThanOrEqual(2)
})

test('a watch waits out an answer that cannot be used, and tells of it', async () => {
  const { world, skerry, controller, polls, signal } = await watched()
  const { revision } = await skerry.resolve()
  const seen: Resolved[] = []
  const unusable: string[] = []
  const onChange = (resolved: Resolved) => void seen.push(resolved)
  const onUnusable = ({ code }: { code: string }) => void unusable.push(code)
  const answer = async (values: Record<string, string>, publicKeyJwk: string) => {
    world.body.layers[1] = await layer(app, values, publicKeyJwk)
    world.etag = crypto.randomUUID()
    await polls(2)
  }
  const done = watch(skerry, { ...settings, revision, signal, onChange, onUnusable })
  await answer({ A: `\${B}`, B: `\${A}` }, world.reader.publicKeyJwk)
  await answer({ A: '1' }, (await newToken('skerry')).publicKeyJwk)
  expect(new Set(unusable)).toEqual(new Set(['reference_cycle', 'decryption_failed']))
  await answer({ A: '2' }, world.reader.publicKeyJwk)
  controller.abort()
  await done
  expect(seen.map(({ values }) => values.A)).toEqual(['2'])
})

test('a watch ends with a refusal', async () => {
  const { world, skerry } = await watched()
  world.answer = () => refuse(401, 'unauthorized')
  await expect(watch(skerry, { ...settings, onChange: () => {} })).rejects.toMatchObject({ code: 'unauthorized' })
})

test('a watch ends at once when it is aborted, also while it waits', async () => {
  const { skerry, controller, signal } = await watched()
  const { revision } = await skerry.resolve()
  const done = watch(skerry, { intervalSeconds: 3600, revision, signal, onChange: () => {} })
  controller.abort()
  await done
  await watch(skerry, { signal, onChange: () => expect.unreachable() })
})

test.each([Number.NaN, -1, 0, 0.5, 30 * 86_400, Number.POSITIVE_INFINITY])(
  'a watch every %d s is refused, and not a loop without a pause',
  async (intervalSeconds) => {
    const { world, skerry, signal } = await watched()
    const done = watch(skerry, { intervalSeconds, signal, onChange: () => expect.unreachable() })
    await expect(done).rejects.toMatchObject({ name: 'SkerryError', code: 'invalid_request' })
    expect(world.server.requests).toEqual([])
  },
)

test('a last-known-good copy is no change', async () => {
  const { world, controller, polls, signal } = await watched()
  const cache = memoryCache()
  const settings = { baseUrl: world.server.baseUrl, token: world.reader.token, cache, ...fast }
  await createSkerry(settings).resolve()
  world.answer = () => refuse(500, 'internal')
  const done = watch(createSkerry(settings), { intervalSeconds: 1, signal, onChange: () => expect.unreachable() })
  await polls(3)
  controller.abort()
  await done
})
