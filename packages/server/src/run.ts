import { ConfigError, readConfig } from './config.ts'
import { describe } from './kernel/errors.ts'
import { openLog } from './kernel/log.ts'
import { logProcess } from './process-log.ts'
import { startServer } from './server.ts'

/** Requests are given eight seconds and jobs five; a database that has fallen silent could keep the rest for longer. */
const givesUpAfterMs = 20_000

/** Ctrl-C and systemd signal npm and the server, and npm passes it on: what comes twice within this time is one signal. */
const echoMs = 500

/**
 * Runs a server until a signal ends it.
 *
 * @param warnings what Node has warned of since the process started
 */
export async function run(environment: Record<string, string | undefined>, warnings: readonly Error[]): Promise<void> {
  // Every file that the server makes is its owner's alone.
  process.umask(0o077)
  // Who reads the log may go away, or its disk be full: the server stays.
  process.stdout.on('error', () => {})
  const config = readConfig(environment)
  const log = openLog(config.logLevel, (line) => process.stdout.write(line))
  logProcess(log, warnings)
  const server = await startServer(
    config,
    log,
    () => new Date(),
    (error) => {
      // Whatever supervises the server starts it again, and starting recovers.
      log.error('the embedded database has stopped', describe(error))
      process.exit(1)
    },
  )
  const database = config.databaseUrl ? 'PostgreSQL' : `embedded database in ${config.dataDir}`
  log.info(`Skerry listens on ${server.url}`, { database })
  if (config.smtpUrl === null) log.info(`mails are put into ${config.dataDir}/outbox: SKERRY_SMTP_URL is not set`)
  // Whatever the log level: the link is a credential, and the only way to the first organization.
  if (server.setUpLink !== null)
    openLog('info', (line) => process.stdout.write(line)).info(
      'Nobody has set up this server yet. Open the link within 24 hours to create the first organization and its owner. It works once',
      { link: server.setUpLink },
    )
  let closingSinceMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (closingSinceMs !== undefined && performance.now() - closingSinceMs < echoMs) return
      if (closingSinceMs !== undefined) process.exit(1)
      closingSinceMs = performance.now()
      log.info('closing', { signal })
      setTimeout(() => process.exit(1), givesUpAfterMs).unref()
      server.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
}

/** Logs in one line why there is no server, whatever the log level. */
export function giveUp(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error)
  const kind = error instanceof ConfigError ? 'a setting is wrong' : 'cannot start'
  openLog('error', (line) => process.stderr.write(line)).error(`${kind}: ${reason}`)
  process.exit(1)
}
