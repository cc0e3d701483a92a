import { readConfig } from '../src/config.ts'
import { openLog } from '../src/kernel/log.ts'
import { startServer } from '../src/server.ts'

/** Lets a server make and migrate its database, and closes it again. */
export async function prepare(settings: Record<string, string>): Promise<void> {
  const config = readConfig({ SKERRY_PORT: '0', SKERRY_LOG_LEVEL: 'silent', ...settings })
  const server = await startServer(
    config,
    openLog('silent', () => {}),
    () => new Date(),
  )
  // Sealed under the key of this server. A server on a copy has another one. A sealing that still runs would make it again.
  await server.context.queue.stop()
  await server.context.db.rows('delete from export_signing_keys')
  await server.close()
}
