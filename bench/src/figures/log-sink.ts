import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { say } from '../measure.ts'
import { call, makeTenant } from '../tenant.ts'
import { addEntries, openTrail, untilTrue } from '../trail.ts'

const usualEntries = 100_000

/** Audit entries per second that a collector gets out of a backlog, from the first request to the last. */
export async function logSink({ plan, postgres }: BenchOnPostgres): Promise<number> {
  const count = Math.min(usualEntries, plan.secretCount / 10)
  await using collector = await startCollector()
  const databaseUrl = await postgres.createDatabase('log_sink')
  const privateTargets = { SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' }
  await using server = await startServer({ ...onDatabase(databaseUrl), ...withServerKey, ...privateTargets })
  const { orgId, admin } = await makeTenant(server.url, 1)
  const db = await openTrail(databaseUrl)
  try {
    await call(server.url, 'PUT', `/v1/orgs/${orgId}/log-sink`, `Bearer ${admin.bearer}`, { endpoint: collector.url })
    await addEntries(db, orgId, count)
    await untilTrue('all entries have arrived', () => collector.seen.records >= count)
    const { records, first, firstRecords, last } = collector.seen
    const perSecond = (records - firstRecords) / ((last - first) / 1000)
    say(`  ${records} entries in ${((last - first) / 1000).toFixed(1)} s`)
    return perSecond
  } finally {
    await db.close()
  }
}

/** Accepts everything, and counts the records by a field that each has once. */
async function startCollector() {
  const seen = { records: 0, first: 0, firstRecords: 0, last: 0 }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const records = Buffer.concat(pieces).toString().split('"severityNumber"').length - 1
      seen.last = performance.now()
      seen.records += records
      if (seen.first === 0) Object.assign(seen, { first: seen.last, firstRecords: records })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/logs`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
