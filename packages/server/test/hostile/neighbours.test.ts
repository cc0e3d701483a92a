import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { health } from '@skerry/contract/health/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { unpolledMaxMs } from '../../src/features/resolve/cache.ts'
import { heavyReads } from '../../src/http/heavy-reads.ts'
import { engine } from '../engine.ts'
import { type HeavyRequest, openGreedy } from '../heavy-scene.ts'
import { held } from '../held.ts'
import { openEnv } from '../scene.ts'
import { stopSchedules } from '../state.ts'
import { type Actor, grantKey, newMember, newToken, putSecret } from '../tenant.ts'
import { until } from '../until.ts'

// One organization uses as much of the server as it can, and another one must still be served. A lock stands in for a
// log so large that a statement never ends.

const { world, tenant: victim, envId } = await openEnv()
const greedy = await openGreedy(world)
await stopSchedules(world)
const { db, cache } = world.server.context

/** Requests and locks of a test. They are ended after it, even if it failed. */
let begun: AbortController[] = []
let locks: { commit: () => Promise<void> }[] = []
afterEach(async () => {
  const [callers, transactions] = [begun, locks]
  begun = []
  locks = []
  for (const one of callers) one.abort()
  await Promise.all(transactions.map((one) => one.commit()))
})

const requestOf = (title: string) => greedy.requests.find((one) => one.title === title) as HeavyRequest

function send({ method, path }: Pick<HeavyRequest, 'method' | 'path'>) {
  const caller = new AbortController()
  begun.push(caller)
  const headers = { authorization: greedy.tenant.admin.as }
  const answer = fetch(world.url + path, { method, headers, signal: caller.signal })
  answer.catch(() => {})
  return { answer, hangUp: () => caller.abort() }
}

/** Counts heavy reads that wait for the lock of a test. A read that does not wait yet may end before a cancel. */
const running = async () =>
  (
    await db.rows(
      `select 1 from pg_stat_activity
        where datname = current_database() and application_name like 'skerry read %' and wait_event_type = 'Lock'`,
    )
  ).length
const untilRunning = (count: number) => until(`${count} heavy reads run`, async () => (await running()) === count)

/** Locks a table until the end of the test. */
async function lock(table: string): Promise<void> {
  locks.push(await held(db, (tx) => tx.rows(`lock table ${table} in access exclusive mode`)))
}

/** For each heavy read a table that it reads and that no access check reads. */
const tableOf: Record<string, string> = {
  'GET /v1/orgs/:orgId/audit': 'audit_entries',
  'GET /v1/orgs/:orgId/audit/timeline': 'audit_entries',
  'GET /v1/orgs/:orgId/audit/proof/inclusion': 'audit_trees',
  'GET /v1/orgs/:orgId/audit/proof/consistency': 'audit_trees',
  'GET /v1/orgs/:orgId/audit/leaves': 'audit_trees',
  'GET /v1/orgs/:orgId/envs/:envId/secrets': 'secrets',
  'GET /v1/orgs/:orgId/envs/:envId/secrets/:name/versions': 'secrets',
  'GET /v1/orgs/:orgId/envs/:envId/deleted-secrets': 'deleted_secrets',
  'GET /v1/orgs/:orgId/envs/:envId/secret-details': 'secret_details',
  'GET /v1/orgs/:orgId/missing-grants': 'team_environments',
  'GET /v1/orgs/:orgId/change-requests': 'change_requests',
  'GET /v1/orgs/:orgId/directory/entries': 'directory_heads',
  'GET /v1/orgs/:orgId/directory/claims': 'directory_entries',
  'GET /v1/orgs/:orgId/leases': 'leases',
  'GET /v1/orgs/:orgId/grants': 'key_grants',
  'GET /v1/orgs/:orgId/teams/:teamId': 'key_exclusions',
  'GET /v1/orgs/:orgId/members/:userId/offboarding-preview': 'rotation_policies',
  'GET /v1/orgs/:orgId/offboardings': 'offboardings',
  'GET /v1/orgs/:orgId/offboardings/:offboardingId/rows': 'rotation_policies',
  'GET /v1/orgs/:orgId/recovery/env-keys': 'recovery_grants',
  'GET /v1/orgs/:orgId/agents/:agentId/activity': 'agent_activity',
  'GET /v1/orgs/:orgId/billing': 'secrets',
  'POST /v1/orgs/:orgId/export': 'audit_trees',
}

describe.runIf(engine() === 'postgres')('a heavy read', () => {
  test.each(greedy.requests)('of $title ends its database statement when the caller hangs up', async (request) => {
    await lock(tableOf[request.title] as string)
    const { hangUp } = send(request)
    await untilRunning(1)
    hangUp()
    await untilRunning(0)
  })

  test('that PostgreSQL cancels is refused with 429 and retry-after', async () => {
    await lock('audit_entries')
    const { answer } = send(requestOf('GET /v1/orgs/:orgId/audit'))
    await untilRunning(1)
    // As the statement timeout would do, which is long in tests.
    await db.rows(`select pg_cancel_backend(pid) from pg_stat_activity where application_name like 'skerry read %'`)
    const { status, headers } = await answer
    expect([status, headers.get('retry-after')]).toEqual([429, '30'])
    expect(await (await answer).text()).toContain('this took the database too long')
  })

  test('has few slots per organization, answers 429 if none is free, and does not delay other organizations', async () => {
    const { ofOrganization, waitingMax } = heavyReads.search
    await lock('audit_trees')
    const proof = requestOf('GET /v1/orgs/:orgId/audit/leaves')
    const archive = requestOf('POST /v1/orgs/:orgId/export')
    const sent = Array.from({ length: ofOrganization + waitingMax }, () => send(proof))
    const archives = [send(archive), send(archive)]
    await untilRunning(ofOrganization + 1)
    const refusals = [await send(proof).answer, await Promise.race(archives.map(({ answer }) => answer))]
    for (const { status, headers } of refusals) {
      expect(status).toBe(429)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }

    const as = victim.admin.as
    const params = { orgId: victim.orgId }
    for (let round = 0; round < 5; round++) {
      await putSecret(world, victim, envId, 'MEANWHILE')
      const answers = [
        await world.call(apps.list, { as, params }),
        await world.call(resolve.get, { as, query: { env: envId } }),
        await world.call(audit.list, { as, params, query: { text: 'meanwhile' } }),
        await world.call(health.ready),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    }
    expect(await running()).toBe(ofOrganization + 1)

    for (const { hangUp } of [...sent, ...archives]) hangUp()
    await untilRunning(0)
  })
})

describe.runIf(engine() === 'postgres')('while every connection of the pool is in use', () => {
  /** The pool size of these worlds, minus the connection for batches. */
  const poolSize = 4

  /** Returns the status of an answer. A request that the memory cannot answer waits for a connection, and times out. */
  const answered = ({ as }: Actor) =>
    fetch(`${world.url}/v1/resolve?env=${envId}`, {
      headers: { authorization: as },
      signal: AbortSignal.timeout(unpolledMaxMs),
    }).then(
      ({ status }) => status,
      () => 'no answer',
    )

  test('tokens and people still get cached answers, and the server says that it is ready', async () => {
    const token = await newToken(world, victim)
    const person = await newMember(world, victim)
    for (const one of [token, person]) await grantKey(world, victim, envId, one)
    const remembered = (one: Actor) => cache.find(`${one.id} env=${envId}`, world.clock.now().getTime()) !== undefined
    const ask = ({ as }: Actor) => world.call(resolve.get, { as, query: { env: envId } })
    const polled = vi.spyOn(cache, 'polled')
    const untilPolledAfter = (ms: number) =>
      until('a poll', () => {
        // This look-up counts as a request. A server without requests does not poll.
        remembered(token)
        return polled.mock.calls.some(([atMs]) => atMs > ms)
      })
    // A server whose poll was late or failed forgets its answers and asks the database. On a busy machine that can
    // happen here, so the answers are then remembered anew.
    await until('answers without a connection of the pool', async () => {
      // The poll that sees the grants evicts earlier answers.
      await untilPolledAfter(performance.now())
      for (const one of [token, person])
        await until('it is remembered', async () => {
          await ask(one)
          return remembered(one)
        })
      for (let taken = 0; taken < poolSize; taken++) locks.push(await held(db, (tx) => tx.rows('select 1')))
      // Polls from before the pool was used up no longer count then.
      await untilPolledAfter(performance.now() + unpolledMaxMs)
      const statuses = [await answered(token), await answered(person), (await world.call(health.ready)).status]
      await Promise.all(locks.splice(0).map((one) => one.commit()))
      return statuses.every((status) => status === 200)
    })
    polled.mockRestore()
  })
})

test('every heavy read has a table here that can block it', () => {
  expect(greedy.requests.map(({ title }) => title).sort()).toEqual(Object.keys(tableOf).sort())
})
