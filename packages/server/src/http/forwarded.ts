import type { FastifyInstance } from 'fastify'
import type { Context } from '../kernel/context.ts'

/**
 * Says once in the log that a proxy tells of callers and is not believed: all behind it are one caller then, who share the
 * rate limits of strangers and the one address in the trail.
 */
export function warnOfUntrustedProxies(app: FastifyInstance, { log }: Context): void {
  let isSaid = false
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, socket } = request.raw
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
    if (!isSaid && isForwarded && request.ip === socket.remoteAddress) {
      isSaid = true
      log.warn(
        'a proxy tells whom it forwards for and is not believed, so all its callers count as one: name it in SKERRY_TRUSTED_PROXIES',
        { proxy: socket.remoteAddress },
      )
    }
    done()
  })
}
