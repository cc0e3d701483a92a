import type { FastifyInstance } from 'fastify'
import { type Build, type BuiltPages, noncePlaceholder, readBuild } from '../../http/build.ts'
import { mountFiles, mountNotBuilt, sendPage } from '../../http/built-files.ts'
import { newSecret } from '../../kernel/context.ts'
import { assetHeaders, pageHeaders } from './headers.ts'

/** The paths that answer with the dashboard's page, which decides itself what to show. Any other path is unknown. */
export const pagePaths = [
  '/',
  '/set-up',
  '/sign-in',
  '/sign-in/link',
  '/sign-in/identity',
  '/cli',
  '/cli/:code',
  '/account',
  '/account/*',
  '/orgs/*',
] as const

/**
 * Serves the dashboard: its page at every path above, the files of its build, and their hashes. Only the page is kept
 * in memory. The build has compressed the files, which are read when they are requested.
 */
export function mountDashboard(app: FastifyInstance, built = readBuild('dashboard')): void {
  if (built) mountBuild(app, built)
  else mountNotBuilt(app, pagePaths, notBuilt)
}

function mountBuild(app: FastifyInstance, built: BuiltPages) {
  const { build, page } = built
  const importMap = build.importMapSha256 as string
  for (const path of pagePaths)
    app.get(path, async (request, reply) => {
      const nonce = newSecret()
      reply.headers({ ...pageHeaders(nonce, importMap), 'x-request-id': request.id })
      return sendPage(request, reply, page.replace(noncePlaceholder, nonce))
    })
  mountFiles(app, built, assetHeaders)
  mountHashes(app, build)
}

/** The hashes of the served files, to compare with a build of one's own: `skerry dashboard verify`. */
function mountHashes(app: FastifyInstance, { files }: Build) {
  const hashes = Object.fromEntries(Object.entries(files).map(([path, { integrity }]) => [path, integrity]))
  app.get('/.well-known/skerry-dashboard-hashes', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': request.id })
    return reply.type('application/json; charset=utf-8').send(JSON.stringify({ files: hashes }))
  })
}

const notBuilt = `Skerry is running, but its dashboard has not been built.

On the server, in the folder of Skerry: npm run build
Then start the server again and reload this page. npm start does both.

The API works without it. The documentation is at /docs, if it was built.
`
