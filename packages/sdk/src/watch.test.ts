import { newToken } from '@skerry/crypto/token'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { app, fast, layer, refuse, resolveWorld } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { UnavailableError } from './errors.ts'
import { createSkerry, type Resolved } from './skerry.ts'
import { watch } from './watch.ts'

// Fakes the timers only, so that the wait between two polls takes no time. `polls` moves them forward.
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

test('a watch reports every change once, and nothing else', async () => {
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

test('a watch without a revision reports the present state first', async () => {
  const { skerry, controller, signal } = await watched()
  const seen: Resolved[] = []
  const onChange = (resolved: Resolved) => {
    seen.push(resolved)
    controller.abort()
  }
  await watch(skerry, { ...settings, signal, onChange })
  expect(seen[0]!.values.LEVEL).toBe('debug')
})

test('an error of the caller ends a watch, even one that a server could have caused', async () => {
  const { skerry, signal } = await watched()
  const error = new UnavailableError('unavailable', 'the own server of the caller is gone')
  const onChange = () => Promise.reject(error)
  const onUnavailable = () => expect.unreachable()
  await expect(watch(skerry, { ...settings, signal, onChange, onUnavailable })).rejects.toBe(error)
})

test('a watch goes on while the server is unavailable', async () => {
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

test('a watch goes on after an answer that cannot be used, and reports it', async () => {
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

test('a watch ends when the server refuses', async () => {
  const { world, skerry } = await watched()
  world.answer = () => refuse(401, 'unauthorized')
  await expect(watch(skerry, { ...settings, onChange: () => {} })).rejects.toMatchObject({ code: 'unauthorized' })
})

test('a watch ends at once when it is aborted, even between two polls', async () => {
  const { skerry, controller, signal } = await watched()
  const { revision } = await skerry.resolve()
  const done = watch(skerry, { intervalSeconds: 3600, revision, signal, onChange: () => {} })
  controller.abort()
  await done
  await watch(skerry, { signal, onChange: () => expect.unreachable() })
})

test.each([Number.NaN, -1, 0, 0.5, 30 * 86_400, Number.POSITIVE_INFINITY])(
  'a watch every %d s is refused, instead of polling without a pause',
  async (intervalSeconds) => {
    const { world, skerry, signal } = await watched()
    const done = watch(skerry, { intervalSeconds, signal, onChange: () => expect.unreachable() })
    await expect(done).rejects.toMatchObject({ name: 'SkerryError', code: 'invalid_request' })
    expect(world.server.requests).toEqual([])
  },
)

test('a watch does not report a last-known-good copy as a change', async () => {
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
