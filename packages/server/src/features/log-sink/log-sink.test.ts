import { audit } from '@skerry/contract/audit'
import { auditProof } from '@skerry/contract/audit-proof'
import { logSink } from '@skerry/contract/log-sink'
import { decodeBase64url } from '@skerry/crypto/base64url'
import { openCheckpoint } from '@skerry/crypto/checkpoint'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Collector, type Received, startCollector } from '../../../test/services/collector.ts'
import { tableDump } from '../../../test/state.ts'
import { newApp, newDecoy, newGroup, newMember, newToken, signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'
import { seal } from '../audit-proof/seal.ts'
import { shipAll, sweep } from './jobs.ts'

let world: World
let collector: Collector
beforeAll(async () => {
  world = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  // Delivery is what is tried here: nobody else sends anything meanwhile.
  await world.server.context.queue.stop()
  collector = await startCollector()
})
afterAll(async () => {
  await world.close()
  await collector.close()
})
afterEach(() => {
  collector.answer = null
  collector.records.length = 0
  collector.requests.length = 0
})

const ask = <E extends Parameters<World['call']>[0]>(endpoint: E, of: Tenant, body?: object) =>
  world.call(endpoint, { as: of.admin.as, params: { orgId: of.orgId }, ...(body ? { body } : {}) } as never)
const set = (of: Tenant, more: object = {}) => ask(logSink.set, of, { endpoint: collector.url, ...more })
const shown = async (of: Tenant) => (await ask(logSink.get, of)).body.logSink
/** As the jobs would, now. */
const deliver = async (of: Tenant) => {
  await seal(world.server.context)
  await shipAll(world.server.context, of.orgId)
}
const isCheckpoint = ({ body }: Received) => body === 'audit.checkpoint'
/** Records of entries, without the checkpoints between them. */
const entriesAt = (at = collector) => at.records.filter((record) => !isCheckpoint(record))
const idsAt = () => entriesAt().map(({ attributes }) => attributes['skerry.audit.id'])

/** An organization with a sink, of which everything so far has been sent. */
async function withSink(more: object = {}): Promise<Tenant> {
  const of = await signUp(world)
  expect((await set(of, more)).status).toBe(200)
  await deliver(of)
  collector.records.length = 0
  collector.requests.length = 0
  return of
}

const addEntries = (of: Tenant, count: number, action: string) =>
  world.server.context.db.rows(
    `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
     select $1, 'aud_' || lpad(n::text, 22, '0'), $2, 'system', 'organization', '{}', $3
       from generate_series(1, $4::int) n`,
    [of.orgId, action, world.clock.now().toISOString(), count],
  )

describe('records', () => {
  test('tell who did what to which from where, in the forms of OTLP, and of what came before the sink nothing', async () => {
    const of = await signUp(world)
    world.clock.advance(1)
    await set(of)
    const app = await newApp(world, of)
    await deliver(of)
    expect(entriesAt().map(({ body }) => body)).toEqual(['log_sink.updated', 'app.created'])
    const { entries } = (await world.call(audit.list, { as: of.admin.as, params: { orgId: of.orgId } })).body
    expect(collector.records[1]).toEqual({
      at: entries[0]?.createdAt,
      severity: 'INFO',
      body: 'app.created',
      attributes: {
        'skerry.org.id': of.orgId,
        'skerry.audit.id': entries[0]?.id,
        'skerry.audit.action': 'app.created',
        'skerry.actor.type': 'service_token',
        'skerry.actor.id': of.admin.id,
        'skerry.resource.type': 'application',
        'skerry.resource.id': app.id,
        'client.address': '127.0.0.1',
        'user_agent.original': 'node',
        'skerry.request.id': entries[0]?.requestId,
        'skerry.metadata.slug': app.slug,
      },
    })
    expect(await shown(of)).toMatchObject({ enabled: true, lastError: null, waitingEntries: 0 })
  })

  test('do not hold what people wrote in their own words', async () => {
    const of = await withSink()
    await newDecoy(world, of)
    await deliver(of)
    expect(collector.records[0]?.attributes['skerry.metadata.placement']).toBe('[redacted]')
  })

  test.each([
    ['what was denied', 'env.resolve_denied', 'WARN'],
    ['a decoy that was tried', 'honey_token.tripped', 'WARN'],
    ['what failed', 'rotation.failed', 'WARN'],
    ['what was done', 'secret.written', 'INFO'],
  ])('are as severe as %s is: %s is %s', async (_, action, severity) => {
    const of = await withSink()
    await addEntries(of, 1, action)
    await deliver(of)
    expect(entriesAt()).toMatchObject([{ body: action, severity }])
  })

  test('come in order and all of them, in batches of at most 500', async () => {
    const of = await withSink()
    await addEntries(of, 1201, 'org.updated')
    const batches: number[] = []
    collector.answer = (_, records) => batches.push(records.filter((one) => !isCheckpoint(one)).length) > 0
    await deliver(of)
    expect(batches).toEqual([500, 500, 201])
    expect(idsAt()).toEqual(idsAt().toSorted())
  })
})

describe('checkpoints', () => {
  /** What has been received, each checkpoint opened with the key that the server publishes. */
  async function received(of: Tenant) {
    const { publicKey } = (await world.call(auditProof.exportKey)).body
    return Promise.all(
      collector.records.map(async (record) => {
        if (!isCheckpoint(record)) return { id: record.attributes['skerry.audit.id'], size: null }
        const note = String(record.attributes['skerry.checkpoint.note'])
        const { size } = await openCheckpoint(note, decodeBase64url(publicKey), `skerry/${of.orgId}`)
        expect(record.attributes).toEqual({
          'skerry.org.id': of.orgId,
          'skerry.checkpoint.size': size,
          'skerry.checkpoint.note': note,
        })
        return { id: null, size }
      }),
    )
  }
  const leavesOf = async (of: Tenant) =>
    (await world.call(auditProof.leaves, { as: of.admin.as, params: { orgId: of.orgId } })).body.leaves

  test('follow the entries that they cover, open with the published key, and are no entries', async () => {
    const of = await withSink()
    const before = (await leavesOf(of)).length
    for (let n = 0; n < 3; n++) {
      await newGroup(world, of)
      await deliver(of)
    }
    const all = await received(of)
    const leaves = await leavesOf(of)
    const expected = leaves.slice(before).flatMap(({ entryId, index }) => [
      { id: entryId, size: null },
      { id: null, size: index + 1 },
    ])
    expect(all).toEqual(expected)
    expect(await shown(of)).toMatchObject({ position: leaves.length, waitingEntries: 0, rejectedRecords: 0 })
    await deliver(of)
    expect(collector.records).toHaveLength(all.length)
  })

  test('come with the last batch of what waits, and cover nothing that was sealed while it was sent', async () => {
    const of = await withSink()
    await addEntries(of, 700, 'org.updated')
    const batches: number[][] = []
    collector.answer = async (_, records) => {
      batches.push([records.length, records.filter(isCheckpoint).length])
      if (batches.length !== 1) return true
      await newGroup(world, of)
      await seal(world.server.context)
      return true
    }
    await deliver(of)
    expect(batches).toEqual([
      [500, 0],
      [202, 1],
    ])
    const all = await received(of)
    expect(all.at(-1)?.size).toBe((await leavesOf(of)).length)
  })

  test('are sent again with what a collector has not accepted', async () => {
    const of = await withSink()
    await newGroup(world, of)
    collector.answer = (response) => {
      response.destroy()
      return false
    }
    await deliver(of)
    expect(await shown(of)).toMatchObject({ waitingEntries: 1 })
    collector.answer = null
    await deliver(of)
    expect(collector.records.map(({ body }) => body)).toEqual(['group.created', 'audit.checkpoint'])
  })
})

describe('headers', () => {
  test('are sent, never shown, sealed in the database, and stay unless others are given', async () => {
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

  test('do not follow to another host without being given anew', async () => {
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
  ])('and endpoints that cannot be are refused, and change nothing: %j', async (more) => {
    const of = await signUp(world)
    const { status, error } = await set(of, more)
    expect([status, error?.message]).toEqual([400, expect.stringContaining('body')])
    expect(await shown(of)).toBeNull()
  })
})

/** After so many seconds a sweep would ask its collector again. */
async function dueIn(of: Tenant): Promise<number> {
  const sink = await world.server.context.db.row<{ seconds: number }>(
    'select extract(epoch from due_at - last_attempt_at)::int as seconds from log_sinks where org_id = $1',
    [of.orgId],
  )
  return sink?.seconds as number
}

describe('a collector', () => {
  test.each([429, 503])(
    'that answers %i is left alone for as long as it says, and gets everything then',
    async (status) => {
      const of = await withSink()
      await newGroup(world, of)
      collector.answer = (response) => {
        response.writeHead(status, { 'retry-after': '300' }).end()
        return false
      }
      await deliver(of)
      expect(await shown(of)).toMatchObject({ enabled: true, lastError: `answered ${status}`, waitingEntries: 1 })
      const asked = collector.requests.length
      collector.answer = null
      expect(await dueIn(of)).toBe(300)
      await sweep(world.server.context)
      expect(collector.requests).toHaveLength(asked)
      await deliver(of)
      expect(entriesAt().map(({ body }) => body)).toEqual(['group.created'])
      expect(await shown(of)).toMatchObject({ lastError: null, waitingEntries: 0 })
    },
  )

  test('that answers 500 is asked again after pauses that grow, stays enabled, and gets everything then', async () => {
    const of = await withSink()
    await newGroup(world, of)
    collector.answer = (response) => {
      response.writeHead(500).end('{}')
      return false
    }
    const pauses: number[] = []
    for (let n = 0; n < 8; n++) {
      await deliver(of)
      pauses.push(await dueIn(of))
    }
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 600, 600])
    expect(await shown(of)).toMatchObject({ enabled: true, lastError: 'answered 500', waitingEntries: 1 })
    const asked = collector.requests.length
    await sweep(world.server.context)
    expect(collector.requests).toHaveLength(asked)
    collector.answer = null
    await deliver(of)
    expect(entriesAt().map(({ body }) => body)).toEqual(['group.created'])
    expect(await shown(of)).toMatchObject({ lastError: null, waitingEntries: 0 })
  })

  test('that takes only some is believed: what it rejected is counted, and the rest goes on', async () => {
    const of = await withSink()
    await newGroup(world, of)
    collector.answer = (response) => {
      response.writeHead(200).end('{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}')
      return false
    }
    await deliver(of)
    expect(await shown(of)).toMatchObject({
      rejectedRecords: 1,
      waitingEntries: 0,
      lastError: 'took no record of 1 entries',
    })
  })

  test('that refuses is sent no more until an admin sets it anew; the trail and admins are told, and nothing is lost', async () => {
    const of = await withSink()
    await newMember(world, of, 'admin', { email: 'sink@example.com' })
    await newGroup(world, of)
    collector.answer = (response) => {
      response.writeHead(401).end('who are you')
      return false
    }
    await deliver(of)
    expect(await shown(of)).toMatchObject({ enabled: false, lastError: 'answered 401' })
    const { entries } = (await world.call(audit.list, { as: of.admin.as, params: { orgId: of.orgId } })).body
    expect(entries[0]).toMatchObject({
      action: 'log_sink.disabled',
      actorType: 'system',
      metadata: { error: 'answered 401' },
    })
    const [event] = await world.server.context.db.foreign<{ data: { type: string } }>(
      `select data from jobs.job where data->>'type' = 'log_sink.disabled' and data->>'orgId' = '${of.orgId}'`,
    )
    expect(event?.data.type).toBe('log_sink.disabled')
    const asked = collector.requests.length
    await deliver(of)
    expect(collector.requests).toHaveLength(asked)
    collector.answer = null
    await set(of)
    await deliver(of)
    expect(collector.records.map(({ body }) => body)).toEqual(
      expect.arrayContaining(['group.created', 'log_sink.disabled', 'log_sink.updated']),
    )
  })

  test.each([
    ['garbage', (write: (text: string) => void) => write('<html>')],
    ['an answer that is too long', (write: (text: string) => void) => write('x'.repeat(100_000))],
  ])('that answers %s has taken nothing, and gets it again', async (_, answer) => {
    const of = await withSink()
    await newGroup(world, of)
    collector.answer = (response) => {
      answer((text) => response.writeHead(200).end(text))
      return false
    }
    await deliver(of)
    expect(await shown(of)).toMatchObject({ enabled: true, waitingEntries: 1, lastError: expect.any(String) })
    collector.answer = null
    await deliver(of)
    expect(entriesAt()).toHaveLength(1)
  })

  test('that is down for an hour gets everything when it is back, in order', async () => {
    const of = await withSink()
    const gone = await startCollector()
    await gone.close()
    await ask(logSink.set, of, { endpoint: gone.url })
    for (let minute = 0; minute < 6; minute++) {
      world.clock.advance(600)
      await newGroup(world, of)
      await deliver(of)
    }
    expect(await shown(of)).toMatchObject({
      enabled: true,
      waitingEntries: 7,
      lastError: expect.stringContaining('refused'),
    })
    const back = await startCollector(gone.port)
    await deliver(of)
    const instants = entriesAt(back).map(({ at }) => at)
    expect(instants).toEqual(instants.toSorted())
    expect(instants).toHaveLength(7)
    await back.close()
  })

  test('that is killed in the middle of a batch misses nothing', async () => {
    const of = await withSink()
    for (let n = 0; n < 5; n++) await newGroup(world, of)
    collector.answer = (response) => {
      response.destroy()
      return false
    }
    await deliver(of)
    collector.answer = null
    await deliver(of)
    expect(entriesAt().map(({ body }) => body)).toEqual(Array(5).fill('group.created'))
  })

  test('in a private network that is not listed is not reached, and the refusal names the setting', async () => {
    const of = await withSink()
    await ask(logSink.set, of, { endpoint: 'https://10.1.2.3/v1/logs' })
    const { body } = await ask(logSink.test, of)
    expect(body).toMatchObject({
      ok: false,
      status: null,
      error: expect.stringContaining('SKERRY_ALLOW_PRIVATE_TARGETS'),
    })
  })
})

test('two servers that ship at once move on by what one of them has sent', async () => {
  const of = await withSink()
  for (let n = 0; n < 3; n++) await newGroup(world, of)
  await seal(world.server.context)
  await Promise.all([shipAll(world.server.context, of.orgId), shipAll(world.server.context, of.orgId)])
  expect(new Set(idsAt()).size).toBe(3)
  expect(await shown(of)).toMatchObject({ waitingEntries: 0 })
})

test('a test sends one made-up record at once, says what came of it, and is in the trail', async () => {
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

test('a log sink is for admins, one for each organization, and gone when removed', async () => {
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
