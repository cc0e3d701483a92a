import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { missingPostgres, type PostgresService, startPostgres } from '../../../server/test/services/postgres.ts'
import type { LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { testOutbound } from '../outbound.ts'
import { digest, leaseId, roleName, scramVerifier } from './mint.ts'

const skip = missingPostgres()

/** Tests that need thousands of leases. With separate grants for each lease, PostgreSQL refuses more at about 2,440. */
describe.skipIf(skip !== undefined)('many PostgreSQL leases', () => {
  const servers: PostgresService[] = []
  const outbound = testOutbound()
  afterAll(async () => {
    for (const server of servers) await server.dispose()
  })

  const start = async (): Promise<LeaseTarget<'postgres'>> => {
    const server = (await startPostgres({ fsync: false }))!
    servers.push(server)
    const url = new URL(await server.createDatabase('shop'))
    const root = new pg.Client(url.href)
    await root.connect()
    await root.query(`CREATE ROLE skerry_admin LOGIN CREATEROLE;
      CREATE SCHEMA app AUTHORIZATION skerry_admin; SET ROLE skerry_admin; CREATE TABLE app.notes (id int)`)
    await root.end()
    const connection = { host: '127.0.0.1', port: Number(url.port), database: 'shop' }
    return {
      config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' },
      credential: `postgres://skerry_admin:unused@127.0.0.1:${url.port}/shop`,
    }
  }

  const verifier = scramVerifier(randomBytes(16).toString('hex'))
  const mint = () => {
    const [id, name] = [leaseId(), roleName()]
    const lease = { id, roleName: name, verifier, ttlSeconds: 3600, expiresAt: new Date(Date.now() + 3_600_000) }
    return { lease, ref: { id, resourceRef: name, verifierDigest: digest(verifier) } }
  }
  const timed = async (work: () => Promise<unknown>) => {
    const begin = performance.now()
    await work()
    return performance.now() - begin
  }
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!

  it('2,500 live leases do not slow the next one, and 500 leases end within a minute over one connection', async () => {
    const session = await openLeaseTarget('postgres', await start(), outbound)
    const fresh = await openLeaseTarget('postgres', await start(), testOutbound())
    const minted = Array.from({ length: 2500 }, mint)
    for (const { lease } of minted) await session.create(lease)
    // In turns, so that both run under the same load.
    const times: { full: number[]; empty: number[] } = { full: [], empty: [] }
    for (let turn = 0; turn < 100; turn++) {
      times.full.push(await timed(() => session.create(mint().lease)))
      times.empty.push(await timed(() => fresh.create(mint().lease)))
    }
    await fresh.close()
    expect(median(times.full) / median(times.empty)).toBeLessThan(1.5)
    outbound.forget()
    const begin = performance.now()
    for (const { ref } of minted.slice(0, 500)) await session.revoke(ref)
    expect(performance.now() - begin).toBeLessThan(60_000)
    expect(outbound.peak).toBe(1)
    expect((await session.list()).length).toBe(2100)
    await session.close()
  }, 300_000)
})
