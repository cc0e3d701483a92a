import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { describe, expect, test } from 'vitest'
import { endOfMinute } from '../../src/features/honey-tokens/jobs.ts'
import { recordTrips } from '../../src/features/honey-tokens/trips.ts'
import { newId } from '../../src/kernel/context.ts'
import { decoys } from '../decoys.ts'
import { signUp } from '../tenant.ts'
import { until } from '../until.ts'
import { openWorld, start } from '../world.ts'

const { scene, org, as, made, newDecoy, present, shown, recorded, trail } = decoys()

describe('presenting a decoy many times', () => {
  const flood = async (decoy: { bearer: string }, times: number) => {
    const agent = () => ({ 'user-agent': newId('audit') })
    for (let sent = 0; sent < times; sent += 20)
      await Promise.all(Array.from({ length: 20 }, () => present(decoy.bearer, agent())))
    await recordTrips(scene.world.server.context)
  }
  const counts = async (decoy: { id: string }) => (await trail(decoy)).map(({ metadata }) => metadata.count).reverse()
  const ended = async ({ id }: { id: string }) => {
    const { context } = scene.world.server
    const job = await context.db.row<{ data: never }>(
      `select data from jobs where name = $1 and data->>'id' = $2 order by number desc limit 1`,
      [endOfMinute.name, id],
    )
    await endOfMinute.run(context, job?.data as never)
  }

  test('adds one audit entry at once and one for the rest of the minute, whatever user agents it names', async () => {
    const decoy = await newDecoy()
    for (let second = 0; second < 3; second++) {
      await flood(decoy, 40)
      expect(await counts(decoy)).toEqual([1])
      scene.world.clock.advance(10)
    }
    const told = await trail(decoy)
    await ended(decoy)
    expect(await counts(decoy)).toEqual([1, 119])
    const [rest, first] = await trail(decoy)
    expect([first]).toEqual(told)
    expect(rest).toMatchObject({
      actorType: 'system',
      ipAddress: '127.0.0.1',
      metadata: { addresses: ['127.0.0.1'] },
    })
    expect((await shown(decoy))?.tripCount).toBe(120)
    // The job may run twice.
    await ended(decoy)
    expect(await counts(decoy)).toEqual([1, 119])
  })

  test('starts a new count in the next minute, even if the last minute has no closing entry yet', async () => {
    const decoy = await newDecoy()
    await flood(decoy, 20)
    scene.world.clock.advance(61)
    await flood(decoy, 20)
    expect((await counts(decoy)).sort()).toEqual([1, 1, 19])
    await ended(decoy)
    expect((await counts(decoy)).sort()).toEqual([1, 1, 19, 19])
  })

  test('adds a closing entry when the decoy is deleted; a single use needs no closing entry', async () => {
    const [once, decoy] = [await newDecoy(), await newDecoy()]
    await present(once.bearer)
    await recorded(once)
    await ended(once)
    expect(await counts(once)).toEqual([1])
    await flood(decoy, 20)
    await scene.world.call(honeyTokens.delete, { ...as(), params: { ...org(), honeyTokenId: decoy.id } })
    expect(await counts(decoy)).toEqual([1, 19])
  })

  test('through several servers is counted once per use', async () => {
    const decoy = await newDecoy()
    await flood(decoy, 20)
    const other = await start(
      { ...scene.world.server.context.config, baseUrl: null },
      scene.world.log,
      scene.world.clock.now,
    ).catch(() => null)
    // The embedded database can have only one server.
    if (!other) return
    await fetch(`${other.url}/v1/me`, { headers: { authorization: `Bearer ${decoy.bearer}` } })
    await other.close()
    expect(await counts(decoy)).toEqual([1])
    await ended(decoy)
    expect(await counts(decoy)).toEqual([1, 20])
  })
})

describe('a trip', () => {
  test('causes an alert at most every ten minutes', async () => {
    const decoy = await newDecoy()
    const alertedAt = async () => {
      await present(decoy.bearer)
      await recordTrips(scene.world.server.context)
      const { db } = scene.world.server.context
      return (await db.row<{ at: string }>('select last_alert_at as at from honey_tokens where id = $1', [decoy.id]))
        ?.at
    }
    const first = await alertedAt()
    expect(first).toBe((await shown(decoy))?.lastTripAt)
    scene.world.clock.advance(590)
    expect(await alertedAt()).toBe(first)
    scene.world.clock.advance(15)
    expect(await alertedAt()).toBe((await shown(decoy))?.lastTripAt)
  })

  test('is counted in the list of decoys as soon as it is answered', async () => {
    const decoy = await newDecoy()
    await present(decoy.bearer)
    expect((await shown(decoy))?.tripCount).toBe(1)
  })

  test('is in the audit log within moments, even if nobody lists the decoys', async () => {
    const decoy = await newDecoy()
    await present(decoy.bearer)
    await until('the trip stands in the trail', async () => (await trail(decoy)).length === 1)
  })

  test('that the database cannot record is counted once the database can', async () => {
    const decoy = await newDecoy()
    const { db } = scene.world.server.context
    await db.script('alter table honey_tokens rename to honey_tokens_away')
    await present(decoy.bearer)
    await present(decoy.bearer)
    await expect(recordTrips(scene.world.server.context)).rejects.toThrow()
    await present(decoy.bearer)
    await db.script('alter table honey_tokens_away rename to honey_tokens')
    expect((await recorded(decoy))?.tripCount).toBe(3)
  })
})

test('a server records all trips before it stops', async () => {
  const own = await openWorld()
  try {
    const { server } = own
    const config = { ...server.context.config, baseUrl: null }
    const theirs = await signUp(own)
    const { bearer, ...body } = made()
    const params = { orgId: theirs.orgId }
    await own.call(honeyTokens.create, { as: theirs.admin.as, params, body })
    await Promise.all(Array.from({ length: 20 }, () => own.call(me.get, { as: `Bearer ${bearer}` })))
    await server.close()
    const again = await start(config, own.log, own.clock.now)
    const counted = await again.context.db.row<{ tripCount: number }>('select trip_count from honey_tokens')
    await again.close()
    expect(counted?.tripCount).toBe(20)
  } finally {
    await own.close()
  }
})
