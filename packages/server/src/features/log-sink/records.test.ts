import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { decodeBase64url } from '@skerry/crypto/base64url'
import { openCheckpoint } from '@skerry/crypto/checkpoint'
import { describe, expect, test } from 'vitest'
import { isCheckpoint, openLogSinks } from '../../../test/log-sink-scene.ts'
import { newApp, newDecoy, newGroup, signUp, type Tenant } from '../../../test/tenant.ts'
import { seal } from '../audit-proof/seal.ts'
import { shipAll } from './jobs.ts'

const { world, collector, set, shown, deliver, withSink, addEntries, entriesAt } = await openLogSinks()
const ids = () => entriesAt().map(({ attributes }) => attributes['skerry.audit.id'])

describe('records', () => {
  test('contain who did what to which resource and from where, in the form of OTLP, and nothing older than the sink', async () => {
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

  test('do not contain free text', async () => {
    const of = await withSink()
    await newDecoy(world, of)
    await deliver(of)
    expect(collector.records[0]?.attributes['skerry.metadata.placement']).toBe('[redacted]')
  })

  test.each([
    ['a refusal', 'env.resolve_denied', 'WARN'],
    ['a used decoy', 'honey_token.tripped', 'WARN'],
    ['a failure', 'rotation.failed', 'WARN'],
    ['an ordinary change', 'secret.written', 'INFO'],
  ])('about %s have a fitting severity: %s is %s', async (_, action, severity) => {
    const of = await withSink()
    await addEntries(of, 1, action)
    await deliver(of)
    expect(entriesAt()).toMatchObject([{ body: action, severity }])
  })

  test('arrive complete and in order, in batches of at most 500', async () => {
    const of = await withSink()
    await addEntries(of, 1201, 'org.updated')
    const batches: number[] = []
    collector.answer = (_, records) => batches.push(records.filter((one) => !isCheckpoint(one)).length) > 0
    await deliver(of)
    expect(batches).toEqual([500, 500, 201])
    expect(ids()).toEqual(ids().toSorted())
  })
})

describe('checkpoints', () => {
  /** Returns the received records. Each checkpoint is opened with the key that the server publishes. */
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

  test('come only with the last batch, and cover only entries that were sent', async () => {
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

  test('are sent again with the entries that a collector has not accepted', async () => {
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

test('two servers that deliver at the same time miss no entry', async () => {
  const of = await withSink()
  for (let n = 0; n < 3; n++) await newGroup(world, of)
  await seal(world.server.context)
  await Promise.all([shipAll(world.server.context, of.orgId), shipAll(world.server.context, of.orgId)])
  expect(new Set(ids()).size).toBe(3)
  expect(await shown(of)).toMatchObject({ waitingEntries: 0 })
})
