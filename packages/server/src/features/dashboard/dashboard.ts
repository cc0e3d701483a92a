import { createReadStream } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matches } from '../../http/etag.ts'
import { newSecret } from '../../kernel/context.ts'
import { type Build, type BuiltFile, distDir, noncePlaceholder, readBuild, suffixes } from './build.ts'
import { assetHeaders, pageHeaders } from './headers.ts'

/** The paths that are pages of the dashboard; the page itself decides what to show. Anything else is no such path. */
export const pagePaths = [
  '/',
  '/set-up',
  '/sign-in',
  '/sign-in/link',
  '/cli',
  '/cli/:code',
  '/account',
  '/account/*',
  '/orgs/*',
] as const

/**
 * Serves the dashboard: its page at every path above, the files of its build, and their hashes. Only the page is kept in
 * memory; the files are read when asked for, compressed beforehand.
 */
export function mountDashboard(app: FastifyInstance, read = readBuild()): void {
  if (read) mountBuild(app, read.build, read.page)
  else mountNothing(app)
}

function mountBuild(app: FastifyInstance, build: Build, page: string) {
  for (const path of pagePaths)
    app.get(path, async (request, reply) => {
      const nonce = newSecret()
      reply.headers({ ...pageHeaders(nonce, build.importMapSha256), 'x-request-id': request.id })
      return reply.type('text/html; charset=utf-8').send(page.replace(noncePlaceholder, nonce))
    })
  for (const [path, file] of Object.entries(build.files))
    if (path !== '/') app.get(path, async (request, reply) => sendFile(request, reply, path, file))
  mountHashes(app, build)
}

/** What this server serves, to compare with a build of one's own: `skerry dashboard verify`. */
function mountHashes(app: FastifyInstance, { files }: Build) {
  const hashes = Object.fromEntries(Object.entries(files).map(([path, { integrity }]) => [path, integrity]))
  app.get('/.well-known/skerry-dashboard-hashes', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': request.id })
    return reply.type('application/json; charset=utf-8').send(JSON.stringify({ files: hashes }))
  })
}

function sendFile(request: FastifyRequest, reply: FastifyReply, path: string, file: BuiltFile): FastifyReply {
  const etag = `"${file.integrity}"`
  // Names of assets hold their hash; others may change with a version.
  const isFixed = path.startsWith('/assets/')
  reply.headers({
    ...assetHeaders,
    'cache-control': isFixed ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    vary: 'accept-encoding',
    etag,
    'x-request-id': request.id,
  })
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const encoding = file.encodings.find((one) => accepts(request.headers['accept-encoding'], one))
  if (encoding) reply.header('content-encoding', encoding)
  reply.type(file.type)
  return reply.send(createReadStream(new URL(file.file + (encoding ? suffixes[encoding] : ''), distDir)))
}

/** Whether an Accept-Encoding (RFC 9110 section 12.5.3) names this one, and not with weight zero. */
function accepts(header: string | string[] | undefined, encoding: string): boolean {
  const offers = String(header ?? '').split(',')
  return offers.some((offer) => {
    const [name = '', ...parameters] = offer.split(';').map((part) => part.trim())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The API stands by itself; whoever comes with a browser, with a link for setting up perhaps, is told what to run. */
function mountNothing(app: FastifyInstance) {
  for (const path of pagePaths)
    app.get(path, async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': request.id })
      return reply.type('text/plain; charset=utf-8').send(notBuilt)
    })
}

const notBuilt = `Skerry is running, but its dashboard has not been built.

On the server, in the folder of Skerry: npm run build
Then start the server again and reload this page. npm start does both.

The API works without it, and is described at /docs.
`
