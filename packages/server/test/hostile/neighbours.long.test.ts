import { setTimeout as sleep } from 'node:timers/promises'
import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { health } from '@skerry/contract/health/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { describe, expect, test } from 'vitest'
import { engine } from '../engine.ts'
import { openGreedy, seedAudit } from '../heavy-scene.ts'
import { openEnv } from '../scene.ts'
import { putSecret } from '../tenant.ts'
import { call } from '../world.ts'

// One organization sends all its heavy reads at once, over a long audit log, and hangs up on some of them.

const entries = engine() === 'postgres' ? 500_000 : 50_000
const atOnce = 48
const rounds = 30
/** The pause that the rate limit would force on a token. The limit is off here. */
const pauseMs = (1000 * atOnce) / 200

const { world, tenant: victim, envId } = await openEnv()
const greedy = await openGreedy(world)
await seedAudit(world, greedy.tenant.orgId, entries)

describe('heavy reads of all kinds', () => {
  test('never fail with 500, and every request of another organization succeeds', async () => {
    const statusesOf = { greedy: new Set<number>(), victim: new Set<number>() }
    let isOver = false
    const press = async (first: number) => {
      for (let at = first; !isOver; at++) {
        const { method, path } = greedy.requests[at % greedy.requests.length]!
        const headers = { authorization: greedy.tenant.admin.as }
        const caller = new AbortController()
        const asked = fetch(world.url + path, { method, headers, signal: caller.signal })
        // Every fifth request hangs up before the answer.
        if (at % 5 === 0) setTimeout(() => caller.abort(), 50)
        const answer = await asked.catch(() => undefined)
        if (answer) statusesOf.greedy.add(answer.status)
        await answer?.arrayBuffer().catch(() => undefined)
        await sleep(pauseMs)
      }
    }
    const pressing = Array.from({ length: atOnce }, (_, n) => press(n))
    const as = victim.admin.as
    const params = { orgId: victim.orgId }
    for (let round = 0; round < rounds; round++) {
      await putSecret(world, victim, envId, `NUMBER_${round}`)
      for (const { status } of [
        await call(world.url, world.answers, apps.list, { as, params }),
        await call(world.url, world.answers, resolve.get, { as, query: { env: envId } }),
        await call(world.url, world.answers, audit.list, { as, params, query: { text: `NUMBER_${round}` } }),
        await call(world.url, world.answers, audit.timeline, { as, params }),
        await call(world.url, world.answers, health.ready),
      ])
        statusesOf.victim.add(status)
    }
    isOver = true
    await Promise.all(pressing)
    expect([...statusesOf.victim]).toEqual([200])
    expect(statusesOf.greedy).toContain(200)
    expect(statusesOf.greedy).not.toContain(500)
  }, 600_000)
})
