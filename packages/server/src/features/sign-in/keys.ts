import type { FastifyInstance } from 'fastify'
import type { Context } from '../../http/context.ts'
import { publishedKeys } from '../../identity/session-tokens.ts'
import { instant } from '../../kernel/context.ts'

/** `/.well-known/jwks.json`: the public keys of session tokens, for programs that verify one without asking this server. */
export function mountKeys(app: FastifyInstance, context: Context): void {
  app.get('/.well-known/jwks.json', async (request, reply) => {
    const keys = await publishedKeys(context.db, new Date(instant(context)))
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'public, max-age=300' })
    return reply.type('application/jwk-set+json').send(JSON.stringify({ keys }))
  })
}
