import { fileURLToPath } from 'node:url'
import type { VaultConnection } from '../../../packages/sdk/src/vault.ts'
import { jobs, subscribers } from '../../../packages/server/src/app.ts'
import type { Database, Sql } from '../../../packages/server/src/db/database.ts'
import { openDatabase } from '../../../packages/server/src/db/open.ts'
import { openEvents } from '../../../packages/server/src/events/events.ts'
import { openQueue } from '../../../packages/server/src/jobs/queue.ts'
import { openLog } from '../../../packages/server/src/kernel/log.ts'
import { startWebhookReceiver } from '../../../packages/server/test/services/webhook-receiver.ts'
import { startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { say } from '../measure.ts'
import { call } from '../tenant.ts'
import { makeVault } from '../vault.ts'

const eventCount = 10_000
const giveUpMs = 300_000

const settings = {
  ...withServerKey,
  SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
  NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('../../../packages/server/test/tls/ca.pem', import.meta.url)),
}

/** The seconds until a fast receiver has got all of 10,000 events, while another webhook never answers. */
export async function vaultWebhooks({ postgres }: BenchOnPostgres): Promise<number> {
  const databaseUrl = await postgres.createDatabase('vault_webhooks')
  await using server = await startServer({ ...onDatabase(databaseUrl), ...settings })
  const { orgId, platform, connectionIds } = await makeVault(databaseUrl, eventCount, eventCount)
  const [fast, hanging] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()])
  const db = await openDatabase({ databaseUrl, dataDir: '' }, silent)
  try {
    const api = <T>(method: string, path: string, body?: object) =>
      call<T>(server.url, method, `/v1/vault${path}`, `Bearer ${platform}`, body)
    for (const { url } of [hanging, fast]) await api('POST', '/webhooks', { url })
    const { connection } = await api<{ connection: VaultConnection }>('GET', `/connections/${connectionIds[0]}`)
    const told = new Set<string>()
    const all = Promise.withResolvers<void>()
    hanging.answer = () => {}
    fast.answer = (response, { body }) => {
      response.writeHead(204).end()
      if (told.add(JSON.parse(body).data.connection.id).size === eventCount) all.resolve()
    }
    await emitAll(
      db,
      orgId,
      connectionIds.map((id) => ({ ...connection, id })),
    )
    const [startedAt, cpuBefore] = [performance.now(), await server.cpuMs()]
    const late = setTimeout(() => all.reject(new Error(`${told.size} events after ${giveUpMs / 1000} s`)), giveUpMs)
    await all.promise.finally(() => clearTimeout(late))
    const seconds = (performance.now() - startedAt) / 1000
    const cpu = ((await server.cpuMs()) ?? Number.NaN) - (cpuBefore ?? Number.NaN)
    say(
      `  ${fast.hooks.length} requests came; the server took ${(cpu / eventCount).toFixed(2)} ms of processor for each`,
    )
    if (hanging.hooks.length === 0) throw new Error('nothing was sent to the webhook that hangs')
    return seconds
  } finally {
    await db.close()
    await Promise.all([fast.close(), hanging.close()])
  }
}

const silent = openLog('silent', () => {})

/** Emits the events with the server's own code, in one commit. Through the API alone it would take four minutes. */
async function emitAll(db: Database, orgId: string, connections: VaultConnection[]): Promise<void> {
  const events = openEvents(openQueue(db, jobs), subscribers, () => new Date())
  const emit = (tx: Sql, connection: VaultConnection) =>
    events.emit(tx, 'vault.connection.ready', orgId, { projectId: connection.projectId, connection })
  // With the first event the queue looks up its table, which must happen outside of a transaction.
  await emit(db, connections[0] as VaultConnection)
  await db.transaction(async (tx) => {
    for (const connection of connections.slice(1)) await emit(tx, connection)
  })
}
