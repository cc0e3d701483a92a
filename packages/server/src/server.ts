import type { FastifyInstance } from 'fastify'
import { routes } from './app.ts'
import type { Config } from './config.ts'
import { hearChanges } from './db/invalidations.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { mountDocs } from './features/docs/docs.ts'
import { openCache } from './features/resolve/cache.ts'
import type { Context } from './http/context.ts'
import { describe } from './http/errors.ts'
import { openLimiter, unlimited } from './http/limits.ts'
import type { Log } from './http/log.ts'
import { serve } from './http/serve.ts'
import { handlers } from './jobs/handlers.ts'
import { makeAuditPartitions } from './jobs/maintain.ts'
import { openMeter } from './jobs/meter.ts'
import { openQueue } from './jobs/queue.ts'

export interface RunningServer {
  context: Context
  app: FastifyInstance
  /** Where it listens: `http://127.0.0.1:4700`. */
  url: string
  close(): Promise<void>
}

const meterFlushMs = 10_000

/**
 * Opens everything, in order, and listens last: whoever is answered is answered by a whole server. `onStopped` hears of an
 * embedded database that has stopped by itself, after a failed sync for example: only a new process recovers it.
 */
export async function startServer(
  config: Config,
  log: Log,
  now: () => Date,
  onStopped?: (error: Error) => void,
): Promise<RunningServer> {
  const db = await openDatabase({ ...config, poolSize: config.databasePool, onStopped }, log)
  try {
    await migrate(db)
    const context = await openContext(config, log, now, db)
    await makeAuditPartitions(context)
    await context.queue.start(handlers(context))
    const hearing =
      db.engine === 'postgres'
        ? hearChanges(db, context.cache, (error) => log.warn('cannot hear changes', describe(error)), monotonicMs)
        : null
    const flushing = setInterval(() => flushMeter(context), meterFlushMs)
    const app = serve(context, routes)
    mountDocs(app, routes)
    const url = await app.listen({ host: config.host, port: config.port })
    config.baseUrl ??= url
    const close = async () => {
      await app.close()
      clearInterval(flushing)
      await hearing?.stop()
      await context.queue.stop()
      await flushMeter(context)
      await db.close()
    }
    return { context, app, url, close }
  } catch (error) {
    await db.close()
    throw error
  }
}

const monotonicMs = () => performance.now()

async function openContext(config: Config, log: Log, now: () => Date, db: Context['db']): Promise<Context> {
  return {
    config,
    db,
    log,
    now,
    queue: openQueue(db, log),
    cache: openCache({ bytesMax: config.resolveCacheBytes, alone: db.engine === 'embedded', monotonicMs }),
    limiter: config.rateLimits ? openLimiter(monotonicMs) : unlimited,
    oidc: config.oidc ? (await import('./identity/oidc.ts')).openOidc(config.oidc, now) : null,
    meter: openMeter(db, now),
  }
}

const flushMeter = ({ meter, log }: Context) =>
  meter.flush().catch((error) => log.warn('could not add up usage', describe(error)))
