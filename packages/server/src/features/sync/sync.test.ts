import { sync } from '@skerry/contract/sync/endpoints'
import { describe, expect, test } from 'vitest'
import { openSync } from '../../../test/scene.ts'
import type { Answered, Asked } from '../../../test/services/app-platform.ts'
import { tableDump } from '../../../test/state.ts'
import {
  bind,
  composedGroup,
  connect,
  erase,
  runNow,
  vaultedBranch,
  vaultedEnv,
  write,
} from '../../../test/sync-scene.ts'

const { platform, world, tenant } = await openSync()

let apps = 0
const newAppName = () => `shop-${++apps}`
const held = (app: string) => Object.fromEntries([...platform.values(app)].sort())
const planOf = async (bindingId: string, body: object = {}) =>
  (await world.call(sync.plan, { as: tenant.admin.as, params: { orgId: tenant.orgId, bindingId }, body })).body.plan

const patch = async (bindingId: string, body: object) => {
  const params = { orgId: tenant.orgId, bindingId }
  const answer = await world.call(sync.updateBinding, { as: tenant.admin.as, params, body })
  if (answer.status !== 200) throw new Error(answer.error?.message)
}
const lastRun = async (bindingId: string) => {
  const query = { bindingId, limit: 1 }
  return (await world.call(sync.runs, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })).body.runs[0]
}

/** Makes an environment with secrets that is bound to an app of its own. */
async function bound(more: object = {}, values: Record<string, string> = { API_KEY: 'one' }) {
  const env = await vaultedEnv(world, tenant)
  for (const [name, value] of Object.entries(values)) await write(world, tenant, env, name, value)
  const connection = await connect(world, tenant, platform)
  const app = newAppName()
  const binding = await bind(world, tenant, connection, [env], app, more)
  return { env, connection, app, binding }
}

describe('a run', () => {
  test('pushes the same values as skerry run: groups below the environment, references expanded', async () => {
    const env = await vaultedEnv(world, tenant)
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, group, 'HOST', 'db.shared')
    await write(world, tenant, group, 'LEVEL', 'from the group')
    await write(world, tenant, env, 'LEVEL', 'from the app')
    await write(world, tenant, env, 'URL', 'postgres://${HOST}/x?$${y}')
    const connection = await connect(world, tenant, platform)
    const app = newAppName()
    const binding = await bind(world, tenant, connection, [env, group], app)
    const run = await runNow(world, tenant, binding)
    expect(run).toMatchObject({ status: 'succeeded', pushed: ['HOST', 'LEVEL', 'URL'], deleted: [], failures: [] })
    expect(held(app)).toEqual({ HOST: 'db.shared', LEVEL: 'from the app', URL: 'postgres://db.shared/x?${y}' })
  })

  test('does not write unchanged values, and corrects values that were changed at the destination', async () => {
    const { app, binding, env } = await bound({}, { A: '1', B: '2' })
    await runNow(world, tenant, binding)
    const before = platform.pushes.length
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: [], unchanged: 2 })
    expect(platform.pushes.length).toBe(before)
    platform.values(app).set('A', 'by hand')
    await write(world, tenant, env, 'B', 'new')
    expect(await runNow(world, tenant, binding)).toMatchObject({ pushed: ['A', 'B'], unchanged: 0 })
    expect(held(app)).toEqual({ A: '1', B: 'new' })
  })

  test('of a branch pushes the branch’s values over its parent’s', async () => {
    const env = await vaultedEnv(world, tenant)
    await write(world, tenant, env, 'A', 'parent')
    await write(world, tenant, env, 'B', 'parent')
    const branch = await vaultedBranch(world, tenant, env)
    await write(world, tenant, branch, 'B', 'branch')
    const app = newAppName()
    const binding = await bind(world, tenant, await connect(world, tenant, platform), [branch, env], app)
    await runNow(world, tenant, binding)
    expect(held(app)).toEqual({ A: 'parent', B: 'branch' })
  })

  test('reports names that cannot be pushed, with the reason, and pushes the rest', async () => {
    const { app, binding } = await bound({ nameTransform: { suffix: '-x' }, include: ['*'] }, { GOOD: 'a' })
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'partial', pushed: [] })
    expect(held(app)).toEqual({})
    const other = await bound({}, { GOOD: 'a', LOST: '${NOWHERE}', ALSO: '${LOST}', LOOP: '${LOOP}' })
    const run = await runNow(world, tenant, other.binding)
    expect(run).toMatchObject({ status: 'partial', pushed: ['GOOD'] })
    expect(run.failures).toEqual([
      { name: 'ALSO', reason: 'It refers to NOWHERE, which is not there.' },
      { name: 'LOOP', reason: 'Its references go round in a circle: LOOP -> LOOP.' },
      { name: 'LOST', reason: 'It refers to NOWHERE, which is not there.' },
    ])
    expect(held(other.app)).toEqual({ GOOD: 'a' })
  })

  test('pushes the names that pass its filters, spelled as the binding says', async () => {
    const values = { APP_A: '1', APP_B: '2', APP_LOCAL: '3', OTHER: '4' }
    const transform = { prefix: 'p_', case: 'lower' as const }
    const { app, binding } = await bound({ include: ['APP_*'], exclude: ['*LOCAL'], nameTransform: transform }, values)
    await runNow(world, tenant, binding)
    expect(held(app)).toEqual({ p_app_a: '1', p_app_b: '2' })
  })

  test('skips names that somebody else wrote, unless the run or the binding adopts them', async () => {
    const { app, binding } = await bound({}, { A: 'ours', B: 'ours' })
    platform.values(app).set('A', 'theirs').set('B', 'theirs').set('C', 'theirs')
    const run = await runNow(world, tenant, binding)
    expect(run).toMatchObject({ status: 'succeeded', pushed: [], failures: [] })
    expect(run.skipped.map(({ name }) => name)).toEqual(['A', 'B'])
    expect((await planOf(binding.id)).foreign).toEqual(['A', 'B'])
    expect(await runNow(world, tenant, binding, { adopt: ['B'] })).toMatchObject({ status: 'succeeded', pushed: ['B'] })
    expect(held(app)).toEqual({ A: 'theirs', B: 'ours', C: 'theirs' })
    await patch(binding.id, { adopt: true })
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['A'], unchanged: 1 })
    expect(held(app)).toEqual({ A: 'ours', B: 'ours', C: 'theirs' })
  })

  test('removes only what it wrote and nobody has changed since, and only if onDelete says so', async () => {
    const { env, app, binding } = await bound({}, { A: '1', B: '2', C: '3' })
    platform.values(app).set('FOREIGN', 'x')
    await runNow(world, tenant, binding)
    await erase(world, tenant, env, 'A')
    await erase(world, tenant, env, 'B')
    expect((await runNow(world, tenant, binding)).deleted).toEqual([])
    platform.values(app).set('B', 'by hand')
    expect(await planOf(binding.id, { onDelete: 'delete' })).toMatchObject({
      delete: ['A'],
      refused: [{ name: 'B', reason: 'Somebody else has changed it there, so it was not removed.' }],
    })
    await patch(binding.id, { onDelete: 'delete' })
    const kept = { name: 'B', reason: 'Somebody else has changed it there, so it was not removed.' }
    const removal = { status: 'succeeded', deleted: ['A'], skipped: [kept], failures: [] }
    expect(await runNow(world, tenant, binding)).toMatchObject(removal)
    expect(held(app)).toEqual({ B: 'by hand', C: '3', FOREIGN: 'x' })
  })

  test('at a new destination starts with an empty ledger, and leaves the old destination unchanged', async () => {
    const { app, binding } = await bound({ onDelete: 'delete' }, { A: '1' })
    await runNow(world, tenant, binding)
    const other = newAppName()
    platform.values(other).set('A', 'theirs')
    const destination = { provider: 'app-platform-c', appName: other }
    expect(await planOf(binding.id, { destination })).toMatchObject({ foreign: ['A'], create: [] })
    await patch(binding.id, { destination })
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: [], skipped: [{}] })
    expect([held(app), held(other)]).toEqual([{ A: '1' }, { A: 'theirs' }])
  })

  test('appears in the history, newest first, in pages', async () => {
    const { binding } = await bound()
    const ids = []
    for (let count = 0; count < 3; count++) ids.unshift((await runNow(world, tenant, binding)).id)
    const params = { orgId: tenant.orgId }
    const page = (query: object) =>
      world.call(sync.runs, { as: tenant.admin.as, params, query: { bindingId: binding.id, limit: 2, ...query } })
    const first = (await page({})).body
    const second = (await page({ cursor: first.nextCursor })).body
    expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
  })

  test('that takes longer than a caller waits is answered as running, and continues', async () => {
    const { app, binding } = await bound()
    const gate = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    platform.answer(async () => {
      asked.resolve()
      await gate.promise
      return undefined
    })
    const answer = runNow(world, tenant, binding)
    await asked.promise
    world.clock.advance(56)
    expect((await answer).status).toBe('running')
    gate.resolve()
    await expect.poll(async () => (await lastRun(binding.id))?.status).toBe('succeeded')
    expect(held(app)).toEqual({ API_KEY: 'one' })
  })
})

describe('a provider that fails', () => {
  const cases: [string, (asked: Asked) => Answered, RegExp][] = [
    ['is down', () => ({ status: 503, body: { error: 'maintenance' } }), /HTTP 503: maintenance/],
    ['no longer accepts the credential', () => ({ status: 401, body: { error: 'revoked' } }), /HTTP 401: revoked/],
    ['answers 200 with an error inside', () => ({ status: 200, body: { error: 'no' } }), /no list of secrets/],
    ['redirects elsewhere', () => ({ status: 302, headers: { location: 'https://evil.example/' } }), /HTTP 302/],
  ]
  test.each(cases)('because it %s ends the run with the reason, and writes nothing', async (_, respond, reason) => {
    const { app, binding } = await bound()
    platform.answer(respond)
    const run = await runNow(world, tenant, binding)
    expect(run).toMatchObject({ status: 'failed', pushed: [], error: expect.stringMatching(reason) })
    platform.answer(null)
    expect(held(app)).toEqual({})
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['API_KEY'] })
  })

  test('in the middle of a run does not make its names foreign to the next run', async () => {
    const { app, binding } = await bound()
    // The platform stores the value, but its answer is lost.
    platform.answer(({ method, app: of }) => {
      if (method === 'GET') return undefined
      platform.values(of).set('API_KEY', 'one')
      return { status: 401, body: { error: 'revoked just now' } }
    })
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'failed', pushed: [] })
    platform.answer(null)
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['API_KEY'] })
    expect(held(app)).toEqual({ API_KEY: 'one' })
  })

  test('and repeats secret values in its errors has them redacted', async () => {
    const value = 'correct-horse-battery-staple-4711'
    const { binding } = await bound({}, { API_KEY: value })
    for (const echo of [value, encodeURIComponent(value), value.slice(3, 25), Buffer.from(value).toString('base64')]) {
      platform.answer(({ method }) =>
        method === 'GET' ? undefined : { status: 422, body: { error: `cannot store ${echo}` } },
      )
      const run = await runNow(world, tenant, binding)
      expect(run.status).toBe('partial')
      expect(JSON.stringify(run)).not.toContain(echo.slice(0, 16))
    }
  })

  test('is retried at once if it was only busy', async () => {
    const { app, binding } = await bound()
    let calls = 0
    platform.answer(({ method }) => {
      if (method === 'GET' || ++calls > 1) return undefined
      return { status: 429, headers: { 'retry-after': '1' }, body: { error: 'slow down' } }
    })
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['API_KEY'] })
    expect([calls, held(app)]).toEqual([2, { API_KEY: 'one' }])
  })
})

test('no row, job, log line or answer contains a pushed value or the credential', async () => {
  const value = `canary ${crypto.randomUUID()} in the clear`
  const { app, binding } = await bound({}, { CANARY: value, ALSO: 'see ${CANARY}' })
  platform.answer(({ method, body }) => (method === 'GET' ? undefined : { status: 500, body: { error: body } }))
  await runNow(world, tenant, binding)
  platform.answer(null)
  await runNow(world, tenant, binding)
  await planOf(binding.id)
  expect(held(app).ALSO).toBe(`see ${value}`)
  const places = [
    ...(await tableDump(world)),
    { where: 'the log', text: world.log.join('\n') },
    { where: 'answers', text: world.answers.join('\n') },
  ]
  for (const { where, text } of places)
    for (const secret of [value, platform.token, Buffer.from(value).toString('base64').slice(0, 40)])
      expect([where, text.includes(secret)]).toEqual([where, false])
})
