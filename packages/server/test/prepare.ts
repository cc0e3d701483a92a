import { readConfig } from '../src/config.ts'
import { openLog } from '../src/kernel/log.ts'
import { startServer } from '../src/server.ts'

/** Starts a server, which creates and migrates its database, and closes it again. */
export async function prepare(settings: Record<string, string>): Promise<void> {
  const config = readConfig({ SKERRY_PORT: '0', SKERRY_LOG_LEVEL: 'silent', ...settings })
  const server = await startServer(
    config,
    openLog('silent', () => {}),
    () => new Date(),
  )
  // The export signing key is encrypted with the key of this server, and a server on a copy has another one. The queue
  // is stopped first, because a seal job that still runs would create the key again.
  await server.context.queue.stop()
  await server.context.db.rows('delete from export_signing_keys')
  await server.close()
}
