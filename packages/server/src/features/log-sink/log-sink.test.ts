import { audit } from '@skerry/contract/audit/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { describe, expect, test } from 'vitest'
import { openLogSinks } from '../../../test/log-sink-scene.ts'
import { tableDump } from '../../../test/state.ts'
import { newGroup, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, collector, ask, set, shown, deliver, withSink } = await openLogSinks()

describe('headers', () => {
  test('are sent, never shown, encrypted in the database, and kept until new ones are given', async () => {
    const of = await withSink({ headers: { Authorization: 'Bearer collector-canary', 'x-scope': 'a' } })
    expect((await set(of)).body.logSink.headerNames).toEqual(['authorization', 'x-scope'])
    await deliver(of)
    expect(collector.requests.at(-1)).toMatchObject({ authorization: 'Bearer collector-canary', 'x-scope': 'a' })
    for (const { where, text } of await tableDump(world))
      expect([where, text.includes('collector-canary')]).toEqual([where, false])
    expect([...world.answers, ...world.log].join('\n')).not.toContain('collector-canary')
    expect((await set(of, { headers: {} })).body.logSink.headerNames).toEqual([])
    await deliver(of)
    expect(collector.requests.at(-1)?.authorization).toBeUndefined()
  })

  test('are not sent to another host unless they are given again', async () => {
    const of = await withSink({ headers: { 'x-key': 'k' } })
    const elsewhere = { endpoint: 'https://elsewhere.example.com/v1/logs' }
    expect((await ask(logSink.set, of, elsewhere)).error?.message).toContain('body.headers')
    expect((await shown(of))?.endpoint).toBe(collector.url)
    expect((await ask(logSink.set, of, { ...elsewhere, headers: {} })).status).toBe(200)
  })

  test.each([
    { headers: { host: 'else' } },
    { headers: { 'Content-Type': 'text/plain' } },
    { headers: { 'x-a': 'line\nbreak' } },
    { headers: { 'x a': '1' } },
    { headers: { 'X-A': '1', 'x-a': '2' } },
    { endpoint: 'ftp://collector.example.com' },
    { endpoint: 'https://user:pass@collector.example.com/' },
    { endpoint: 'https://collector.example.com/#part' },
    { endpoint: 'https://[::1' },
    { color: 'red' },
  ])('and endpoints that are invalid are refused, and change nothing: %j', async (more) => {
    const of = await signUp(world)
    const { status, error } = await set(of, more)
    expect([status, error?.message]).toEqual([400, expect.stringContaining('body')])
    expect(await shown(of)).toBeNull()
  })
})

test('a test sends one made-up record at once and reports the result, and a refusal does not disable the sink', async () => {
  const of = await withSink()
  expect((await ask(logSink.test, of)).body).toEqual({ ok: true, status: 200, error: null })
  expect(collector.records).toMatchObject([{ body: 'log_sink.tested', attributes: { 'skerry.metadata.test': true } }])
  collector.answer = (response) => {
    response.writeHead(403).end('a secret of the collector')
    return false
  }
  const refused = await ask(logSink.test, of)
  expect(refused.body).toEqual({ ok: false, status: 403, error: 'answered 403' })
  expect(await shown(of)).toMatchObject({ enabled: true })
})

test('each change and each test of a log sink is in the audit log, with the host but no path and no header values', async () => {
  const of = await signUp(world)
  await set(of, { headers: { 'x-key': 'collector-canary' } })
  await set(of, { enabled: false })
  await ask(logSink.test, of)
  await ask(logSink.delete, of)
  const { entries } = (await ask(audit.list, of)).body
  const endpoint = new URL(collector.url).host
  const headerNames = ['x-key']
  const actor = { actorType: 'service_token', actorId: of.admin.id, resourceType: 'log_sink', resourceId: of.orgId }
  const changes = entries.filter(({ action }) => action.startsWith('log_sink.'))
  expect(changes).toMatchObject(changes.map(() => actor))
  expect(changes.map(({ action, metadata }) => [action, metadata])).toEqual([
    ['log_sink.deleted', { endpoint }],
    ['log_sink.tested', { endpoint, ok: true }],
    ['log_sink.updated', { endpoint, enabled: false, headerNames }],
    ['log_sink.updated', { endpoint, enabled: true, headerNames }],
  ])
})

test('a log sink is only for admins of its organization, and sends nothing once it is deleted', async () => {
  const of = await withSink()
  for (const actor of [await newMember(world, of), await newToken(world, of)])
    expect((await world.call(logSink.get, { as: actor.as, params: { orgId: of.orgId } })).status).toBe(403)
  expect(await shown(await signUp(world))).toBeNull()
  expect((await ask(logSink.delete, of)).status).toBe(200)
  expect((await ask(logSink.delete, of)).status).toBe(404)
  expect((await ask(logSink.test, of)).status).toBe(404)
  await newGroup(world, of)
  await deliver(of)
  expect(collector.records).toEqual([])
})
