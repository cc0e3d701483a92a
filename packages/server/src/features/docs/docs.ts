import type { FastifyInstance } from 'fastify'
import { matches } from '../../http/etag.ts'
import type { AnyRoute } from '../../http/route.ts'
import { sha256 } from '../../kernel/context.ts'
import { type Document, documentsOf } from './documents.ts'

/** The browser runs nothing here and loads nothing from elsewhere, whatever text gets into a document. */
const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  // Checked on each visit, mostly answered with 304, so that nobody reads about the old server after an update.
  'cache-control': 'public, no-cache',
}

/**
 * Describes the API to people and to programs: `/docs`, `/docs.css` and `/openapi.json`. Each document is made when it
 * is first requested. It needs no credential, because it contains only what is in the source.
 */
export function mountDocs(app: FastifyInstance, routes: readonly AnyRoute[]): void {
  for (const [path, document] of Object.entries(documentsOf(routes))) mountDocument(app, path, document)
}

function mountDocument(app: FastifyInstance, path: string, { type, make }: Document) {
  let made: { bytes: Buffer; etag: string } | undefined
  app.get(path, async (request, reply) => {
    made ??= tagged(make())
    reply.headers({ ...headers, etag: made.etag, 'x-request-id': request.id })
    if (matches(request.headers['if-none-match'], made.etag)) return reply.code(304).send()
    return reply.type(type).send(made.bytes)
  })
}

function tagged(text: string): { bytes: Buffer; etag: string } {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${sha256(bytes)}"` }
}
