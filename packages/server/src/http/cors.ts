import type { FastifyInstance } from 'fastify'
import type { Context } from './context.ts'

const methods = 'GET, POST, PUT, PATCH, DELETE'
const requestHeaders = 'authorization, content-type, if-none-match, x-skerry-change-note, x-skerry-client'
const answerHeaders = 'etag, retry-after, ratelimit, ratelimit-policy, x-request-id'
const preflightSeconds = '600'

/**
 * Lets pages of the configured origins call the API with their own bearer token, like the SDK in a browser. Cookies do
 * not work: no answer allows credentials, so another site cannot use a browser's session here.
 */
export function allowOrigins(app: FastifyInstance, { config }: Context): void {
  const { corsOrigins } = config
  if (corsOrigins.length === 0) return
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || !/^\/(?:v1|oauth)\//.test(request.url)) return done()
    reply.header('vary', 'origin')
    if (corsOrigins !== '*' && !corsOrigins.includes(origin)) return done()
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', answerHeaders)
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return done()
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': preflightSeconds,
      'x-request-id': request.id,
    })
    reply.code(204).send()
  })
}
