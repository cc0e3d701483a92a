import { lookup } from 'node:dns/promises'
import type { FastifyInstance } from 'fastify'
import { type AppContext, composed, jobs, rawRoutes, routes, subscribers } from './app.ts'
import { type Config, ConfigError } from './config.ts'
import { openIdentity } from './db/identity.ts'
import { pollInvalidations } from './db/invalidations.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { openEvents } from './events/events.ts'
import { searchLimits } from './features/audit/search.ts'
import { startSealing } from './features/audit-proof/jobs.ts'
import { findOverMonth } from './features/billing/quota.ts'
import { propose } from './features/changes/propose.ts'
import { sign as signDirectory } from './features/directory/sign.ts'
import { recordTrips } from './features/honey-tokens/trips.ts'
import { openLiveHub } from './features/live/hub.ts'
import { openCache } from './features/resolve/cache.ts'
import { openQuotaCache } from './features/secrets/quota-cache.ts'
import { openCountedWrites, openWrites } from './features/secrets/writes.ts'
import { makeSetUpLink } from './features/sign-in/set-up.ts'
import { type ChangeDebounce, debounceChanges } from './features/sync/changes.ts'
import { atStart as takeUpSync } from './features/sync/jobs.ts'
import { closeWhenIdle } from './http/close.ts'
import { openFullDisk } from './http/full-disk.ts'
import { heavyReadsAtOnce, openHeavyReads } from './http/heavy-reads.ts'
import { serve } from './http/serve.ts'
import { openLastUsed } from './identity/last-used.ts'
import { openRejectedTokens } from './identity/rejected-tokens.ts'
import { openSessionTokens } from './identity/session-tokens.ts'
import { openMailer } from './jobs/mail.ts'
import { makeAuditPartitions } from './jobs/maintain.ts'
import { openMeter } from './jobs/meter.ts'
import { openQueue } from './jobs/queue.ts'
import type { Evictions } from './kernel/context.ts'
import { type Faults, openFaults } from './kernel/faults.ts'
import type { Log } from './kernel/log.ts'
import { openLimiter, unlimited } from './kernel/rate-limits.ts'
import { openTrees } from './keys/directory.ts'
import { openExportKey } from './keys/export-key.ts'
import { openKeypairs } from './keys/keypairs.ts'
import { opensDatabase } from './keys/rekey.ts'
import { loadServerKey } from './keys/server-key.ts'
import { openAdapters } from './outbound/adapters.ts'
import { openOutbound } from './outbound/outbound.ts'

export interface RunningServer {
  context: AppContext
  app: FastifyInstance
  /** The URL on which it listens: `http://127.0.0.1:4700`. */
  url: string
  /** The link for the first owner, until somebody has used it. The link is a credential. */
  setUpLink: string | null
  close(): Promise<void>
}

const meterFlushMs = 10_000
/** Decoy use is recorded on a timer. A record at each use would let a caller recognise a decoy by its response time. */
const tripsFlushMs = 1000

/**
 * Opens all parts in order and listens last, so that the first answer comes from a complete server. `onStopped` is
 * called when the embedded database has stopped by itself, for example after a failed sync. Only a new process can
 * recover it.
 */
export async function startServer(
  config: Config,
  log: Log,
  now: () => Date,
  onStopped?: (error: Error) => void,
): Promise<RunningServer> {
  const identity = openIdentity()
  const pools = { poolSize: config.databasePool, readsSize: heavyReadsAtOnce }
  let faults: Faults | undefined
  const onIdleError = (error: Error) => faults?.warn('a connection to PostgreSQL broke', error)
  const db = await openDatabase({ ...config, ...pools, identity, onStopped, onIdleError }, log)
  faults = openFaults(db.watch, log)
  try {
    await migrate(db)
    const changes = debounceChanges()
    const queue = openQueue(db, jobs)
    const context = await openContext(config, { db, faults, log, now, queue }, changes)
    identity.onExchange(() => forgetDatabase(context))
    await checkServerKey(context)
    await makeAuditPartitions(context)
    await queue.start(context)
    await takeUpSync(context)
    await startSealing(context)
    changes.start(context)
    const polling =
      db.engine === 'postgres'
        ? pollInvalidations(
            db.watch,
            context.cache,
            identity,
            (error) => faults.warn('cannot poll invalidations', error),
            monotonicMs,
          )
        : null
    const flushing = setInterval(() => flushMeter(context), meterFlushMs)
    const recording = setInterval(() => flushTrips(context), tripsFlushMs)
    const app = serve(context, routes, rawRoutes)
    const url = await app.listen({ host: await oneAddress(config.host), port: config.port })
    config.baseUrl ??= url
    const setUpLink = await makeSetUpLink(context)
    const close = async () => {
      context.live.close()
      await closeWhenIdle(app)
      clearInterval(flushing)
      clearInterval(recording)
      await polling?.stop()
      await changes.stop()
      await queue.stop()
      await context.adapters.close()
      await context.mailer.close()
      await flushMeter(context)
      await flushTrips(context)
      await context.lastUsed.flush()
      await faults.stop()
      await db.close()
    }
    return { context, app, url, setUpLink, close }
  } catch (error) {
    await faults.stop()
    await db.close()
    throw error
  }
}

/**
 * Resolves the host to one address. With several, Fastify would open a server for each, and only the first would have
 * all our hooks.
 */
const oneAddress = async (host: string): Promise<string> =>
  (
    await lookup(host).catch(() => {
      throw new ConfigError(`SKERRY_HOST: ${host} is no address and no name of one`)
    })
  ).address

const monotonicMs = () => performance.now()

async function openContext(
  config: Config,
  { db, faults, log, now, queue }: Pick<AppContext, 'db' | 'faults' | 'log' | 'now' | 'queue'>,
  changes: ChangeDebounce,
): Promise<AppContext> {
  const serverKey = await loadServerKey(config)
  const cache = openCache({ bytesMax: config.resolveCacheBytes, alone: db.engine === 'embedded', monotonicMs })
  const evictions: Evictions = {
    evict(orgId, environmentId) {
      cache.evict(orgId, environmentId)
      changes.evict(orgId, environmentId)
    },
  }
  const quotaCache = openQuotaCache(now)
  const live = openLiveHub({ db, faults, now })
  const writing = { config, db, evictions, announcements: live, now, quotaCache }
  return {
    config,
    db,
    log,
    faults,
    now,
    queue,
    events: openEvents(queue, subscribers, now),
    mailer: openMailer(config),
    cache,
    tokenMemory: cache,
    evictions,
    announcements: live,
    live,
    quotaCache,
    writes: openWrites(writing),
    countedWrites: openCountedWrites(writing),
    propose,
    ...composed,
    fullDisk: openFullDisk(db, log, now),
    heavyReads: openHeavyReads(db),
    auditSearch: searchLimits(),
    limiter: config.rateLimits ? openLimiter(monotonicMs) : unlimited,
    oidc: config.oidc ? (await import('./identity/oidc.ts')).openOidc(config.oidc, now) : null,
    serverKey,
    keypairs: openKeypairs(serverKey, now),
    exportKey: openExportKey(serverKey, now),
    trees: openTrees(),
    signDirectory,
    sessionTokens: openSessionTokens(serverKey, now),
    meter: openMeter(db, now, (metric, orgIds) => findOverMonth({ config, db, now }, orgIds, metric)),
    lastUsed: openLastUsed(db, faults),
    rejectedTokens: openRejectedTokens(),
    outbound: openOutbound(config, { now }),
    adapters: openAdapters(config, log),
  }
}

/** All caches of this process that depend on its database. Add every state that would be wrong for another database. */
const memoriesOf = ({ cache, quotaCache, meter, lastUsed, sessionTokens, fullDisk, live }: AppContext) => [
  cache,
  quotaCache,
  meter,
  lastUsed,
  sessionTokens,
  fullDisk,
  live,
]

function forgetDatabase(context: AppContext): void {
  for (const memory of memoriesOf(context)) memory.clear()
  context.log.warn('another PostgreSQL server or database answers: everything remembered of the one before is dropped')
}

/** Checked at start, so that a wrong key is not discovered only when it is needed. */
async function checkServerKey({ config, db, serverKey }: AppContext): Promise<void> {
  if (!serverKey || (await opensDatabase(db, serverKey))) return
  const place = config.serverKey === null ? `${config.dataDir}/server.key` : 'SKERRY_SERVER_KEY'
  throw new ConfigError(
    `${place}: is not the key that this database was sealed with. If that key is lost, see \`skerry-server sealed list\``,
  )
}

const flushMeter = ({ meter, faults }: AppContext) =>
  meter.flush().catch((error) => faults.warn('could not add up usage', error))

const flushTrips = (context: AppContext) =>
  recordTrips(context).catch((error) => context.faults.warn('could not record trips of decoys', error))
