import { audit } from '@skerry/contract/audit/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { describe, expect, test } from 'vitest'
import { openLogSinks } from '../../../test/log-sink-scene.ts'
import { startCollector } from '../../../test/services/collector.ts'
import { freePort } from '../../../test/services/free-port.ts'
import { newGroup, newMember, type Tenant } from '../../../test/tenant.ts'
import { sweep } from './jobs.ts'

const { world, collector, ask, set, shown, deliver, withSink, entriesAt } = await openLogSinks()

/** Returns after how many seconds a sweep would use the collector again. */
async function dueIn(of: Tenant): Promise<number> {
  const sink = await world.server.context.db.row<{ seconds: number }>(
    'select extract(epoch from due_at - last_attempt_at)::int as seconds from log_sinks where org_id = $1',
    [of.orgId],
  )
  return sink?.seconds as number
}

describe('a collector', () => {
  test.each([429, 503])(
    'that answers %i is used again after the pause that it asked for, and then gets everything',
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

  test('that answers 500 is used again after growing pauses, stays enabled, and then gets everything', async () => {
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

  test('that accepts only some entries is believed: rejected ones are counted and not sent again', async () => {
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

  test('that refuses is disabled until an admin sets it again, with an audit entry and an event, and nothing is lost', async () => {
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
      `select data from jobs where data->>'type' = 'log_sink.disabled' and data->>'orgId' = '${of.orgId}'`,
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
  ])('that answers %s has accepted nothing, and gets the entries again', async (_, answer) => {
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

  test('that is down for an hour gets everything in order when it is back', async () => {
    const of = await withSink()
    // A port that no other test gets meanwhile.
    const gone = await startCollector(await freePort())
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

  test('that breaks the connection during a batch misses nothing', async () => {
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

  test('in a private network that is not allowed is not reached, and the error names the setting', async () => {
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
