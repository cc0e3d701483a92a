import { resolve } from 'node:path'
import { type Config, ConfigError, readConfig } from './config.ts'
import { describe } from './kernel/errors.ts'
import { openLog } from './kernel/log.ts'
import { logProcess } from './process-log.ts'
import { startServer } from './server.ts'

/**
 * At shutdown, requests get eight seconds and jobs five. A database that does not answer could take longer, so the
 * process exits after this time in any case.
 */
const givesUpAfterMs = 20_000

/**
 * Ctrl-C and systemd signal both npm and the server, and npm forwards its signal. Two signals within this time count as
 * one.
 */
const echoMs = 500

/**
 * Runs a server until a signal ends it.
 *
 * @param warnings warnings of Node since the process started
 */
export async function run(environment: Record<string, string | undefined>, warnings: readonly Error[]): Promise<void> {
  // With this umask, only the owner can read the files that the server creates.
  process.umask(0o077)
  // The reader of the log may exit, or its disk may be full. The server keeps running.
  process.stdout.on('error', () => {})
  const config = readConfig(environment)
  const log = openLog(config.logLevel, (line) => process.stdout.write(line))
  logProcess(log, warnings)
  const server = await startServer(
    config,
    log,
    () => new Date(),
    (error) => {
      // The supervisor restarts the server, and the start recovers the database.
      log.error('the embedded database has stopped', describe(error))
      process.exit(1)
    },
  )
  const database = config.databaseUrl ? 'PostgreSQL' : `embedded database in ${config.dataDir}`
  log.info(`Skerry listens on ${server.url}`, { database })
  if (config.smtpUrl === null)
    log.info(`mails are written to ${resolve(config.dataDir, 'outbox')}, because SKERRY_SMTP_URL is not set`)
  if (server.context.serverKey === null && config.oidc === null)
    log.warn(
      `nobody can sign in, because SKERRY_SERVER_KEY is not set. Make a key once with \`node -p "crypto.randomBytes(32).toString('base64url')"\`, store it, and set it at every start`,
    )
  // Printed at every log level: the link is a credential, and the way to a first organization without a terminal.
  if (server.setUpLink !== null)
    openLog('info', (line) => process.stdout.write(line)).info(setUpWords(server.context.config), {
      link: server.setUpLink,
    })
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

/** Says how to make the first organization. A server that refuses `skerry signup` does not name it. */
function setUpWords({ signup, baseUrl }: Pick<Config, 'signup' | 'baseUrl'>): string {
  const unset = 'Nobody has set up this server yet.'
  const end = 'It works once, and so does the link that another server of the same database prints'
  if (signup === 'closed')
    return `${unset} Open the link within 24 hours: it makes an organization that you own. ${end}. \`skerry signup\` is closed here`
  return `${unset} Run \`skerry signup "Acme" --email you@example.com --url ${baseUrl}\` (in a checkout, \`npx skerry\`), or open the link within 24 hours. Either makes an organization that you own. The link works once`
}

/** Logs in one line why the server cannot start, whatever the log level. */
export function giveUp(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error)
  const kind = error instanceof ConfigError ? 'a setting is wrong' : 'cannot start'
  openLog('error', (line) => process.stderr.write(line)).error(`${kind}: ${reason}`)
  process.exit(1)
}
