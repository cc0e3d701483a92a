import { expect, it } from 'vitest'
import { ProviderError } from '../../src/provider-error.ts'
import { call } from '../../src/sync/call.ts'
import { andThen, done, inHalves, without } from '../../src/sync/pushing.ts'
import { httpFake } from '../http-fake.ts'
import { testOutbound } from '../outbound.ts'

const write = (...names: string[]) => names.map((name) => ({ name, value: `value of ${name}`, memo: null }))
const changes = (...names: string[]) => ({
  runId: 'run',
  write: write(...names),
  remove: [{ name: 'OLD', memo: null }],
})

it('inHalves finds the names that cannot be stored, and writes all others', async () => {
  const sent: string[] = []
  const outcome = await inHalves(changes('A', 'BAD', 'C', 'D', 'WORSE'), async (part) => {
    const names = [...part.write, ...part.remove].map(({ name }) => name)
    sent.push(names.join())
    if (names.some((name) => ['BAD', 'WORSE'].includes(name))) throw new ProviderError('failed', 'HTTP 422')
    return done(part)
  })
  expect(outcome.written.map(({ name }) => name)).toEqual(['A', 'C', 'D'])
  expect(outcome.removed).toEqual(['OLD'])
  expect(outcome.failed.map(({ name }) => name)).toEqual(['BAD', 'WORSE'])
  expect(sent[0]).toBe('A,BAD,C,D,WORSE,OLD')
})

it('an empty push makes no call', async () => {
  const outcome = await inHalves({ write: [], remove: [] }, async () => {
    throw new Error('was called')
  })
  expect(outcome).toEqual({ written: [], removed: [], failed: [] })
})

it('a pause in the middle reports what was done, and leaves the rest untried', async () => {
  let calls = 0
  const outcome = await inHalves(changes('A', 'B', 'C'), async (part) => {
    calls++
    if (calls === 1) throw new ProviderError('failed', 'HTTP 422')
    if (calls === 3) throw new ProviderError('rate_limited', 'HTTP 429', 9000)
    return done(part)
  })
  expect(outcome).toEqual({ ...done({ write: write('A', 'B'), remove: [] }), retryAfterMs: 9000 })
})

it('an error that affects every name is thrown after one try', async () => {
  let calls = 0
  const refused = inHalves(changes('A', 'B'), async () => {
    calls++
    throw new ProviderError('denied', 'HTTP 401')
  })
  await expect(refused).rejects.toMatchObject({ reason: 'denied' })
  expect(calls).toBe(1)
})

it('the outcome of the first step is reported even if the second step cannot run now', async () => {
  const first = done({ write: write('A'), remove: [] })
  const denied = async () => {
    throw new ProviderError('rate_limited', 'HTTP 429', 4000)
  }
  expect(await andThen(first, denied)).toEqual({ ...first, retryAfterMs: 4000 })
  await expect(andThen(done({ write: [], remove: [] }), denied)).rejects.toMatchObject({ reason: 'rate_limited' })
})

it('names that are known to fail are not sent', () => {
  const given = without(changes('A', 'B'), ({ name }) => (name === 'B' ? 'No.' : null))
  expect(given.changes.write.map(({ name }) => name)).toEqual(['A'])
  expect(given.failed).toEqual([{ name: 'B', reason: 'No.' }])
})

it.each([
  ['unchanged', (value: string) => value],
  ['in JSON', (value: string) => JSON.stringify(value)],
  ['in capitals', (value: string) => value.toUpperCase()],
  ['cut off', (value: string) => `${value.slice(0, 14)}...`],
])('no reason repeats a value %s', async (_how, shown) => {
  const value = 'hunter2 "and"\nits second line'
  const server = await httpFake(() => ({ status: 400, body: { error: `cannot store ${shown(value)}` } }))
  const readErrorText = (body: unknown) => (body as { error: string }).error
  const api = { outbound: testOutbound(), credential: 'token', headers: {}, readErrorText }
  const error = await call(api, { method: 'POST', url: server.origin, json: { value } }, [value]).catch((e: Error) => e)
  expect(error).toMatchObject({ reason: 'failed', message: 'HTTP 400' })
  await server.stop()
})

it('a pause without a length, or with one in the past, lasts a minute', async () => {
  const server = await httpFake(() => ({ status: 429, body: {} }))
  const api = { outbound: testOutbound(), credential: 'token', headers: {}, readErrorText: () => null }
  const request = { method: 'GET', url: server.origin } as const
  await expect(call(api, request)).rejects.toMatchObject({ reason: 'rate_limited', retryAfterMs: 60_000 })
  await expect(call({ ...api, pauseMs: () => -5 }, request)).rejects.toMatchObject({ retryAfterMs: 60_000 })
  await expect(call({ ...api, pauseMs: () => 1234 }, request)).rejects.toMatchObject({ retryAfterMs: 1234 })
  await server.stop()
})
