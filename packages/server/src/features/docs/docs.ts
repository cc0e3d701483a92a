import { openApiDocument } from '@skerry/contract/docs/openapi'
import type { FastifyInstance } from 'fastify'
import { type BuiltPages, readBuild } from '../../http/build.ts'
import { mountNotBuilt, sendFile } from '../../http/built-files.ts'
import { matches } from '../../http/etag.ts'
import { always, policy } from '../../http/page-policy.ts'
import { sha256 } from '../../kernel/context.ts'

/** The pages run only the script of their build, and request nothing from elsewhere. */
const headers = {
  ...always,
  'content-security-policy': policy({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'font-src': "'self'",
    'connect-src': "'self'",
    // Without this line, script-src would allow the worker of the keyring.
    'worker-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  }),
}

/** Serves the documentation below `/docs/`. It needs no credential, because it contains only what is in the source. */
export function mountDocs(app: FastifyInstance, built = readBuild('site')): void {
  mountOpenApi(app)
  if (built) mountSite(app, built)
  else mountNotBuilt(app, ['/docs', '/docs/*'], notBuilt)
}

function mountSite(app: FastifyInstance, { build, dist }: BuiltPages) {
  app.get('/docs', async (_, reply) => reply.redirect('/docs/', 308))
  app.get('/docs/*', async (request, reply) => {
    const [path = ''] = request.url.split('?')
    const file = Object.hasOwn(build.files, path) ? build.files[path] : undefined
    if (file) return sendFile(request, reply, { dist, path, file, headers })
    // People type the address of a page without the slash.
    if (Object.hasOwn(build.files, `${path}/`)) return reply.redirect(`${path}/`, 308)
    return reply.callNotFound()
  })
}

/** The OpenAPI document is made when it is first requested. */
function mountOpenApi(app: FastifyInstance) {
  let made: { bytes: Buffer; etag: string } | undefined
  app.get('/openapi.json', async (request, reply) => {
    made ??= tagged(JSON.stringify(openApiDocument()))
    // Checked on each visit, mostly answered with 304, so that nobody reads about the old server after an update.
    reply.headers({ ...headers, 'cache-control': 'public, no-cache', etag: made.etag, 'x-request-id': request.id })
    if (matches(request.headers['if-none-match'], made.etag)) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(made.bytes)
  })
}

function tagged(text: string): { bytes: Buffer; etag: string } {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${sha256(bytes)}"` }
}

const notBuilt = `Skerry is running, but its documentation has not been built.

On the server, in the folder of Skerry: npm run build
Then start the server again and reload this page. npm start does both.

The same documents are in the folder docs, and the OpenAPI document of this server is at /openapi.json.
`
