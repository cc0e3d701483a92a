import type { FastifyInstance } from 'fastify'
import { type BuiltPages, readBuild } from '../../http/build.ts'
import { mountFiles, mountNotBuilt, sendPage } from '../../http/built-files.ts'
import { assetHeaders, pageHeaders } from './headers.ts'

/** Links exist with and without the slash. */
export const pagePaths = ['/connect', '/connect/'] as const

/** Serves the page on which a product's users connect their accounts. It contains no data: the link has the token. */
export function mountConnectPage(app: FastifyInstance, built = readBuild('connect')): void {
  if (built) mountBuild(app, built)
  else mountNotBuilt(app, pagePaths, notBuilt)
}

function mountBuild(app: FastifyInstance, built: BuiltPages) {
  for (const path of pagePaths)
    app.get(path, async (request, reply) => {
      reply.headers({ ...pageHeaders(request.hostname), 'x-request-id': request.id })
      return sendPage(request, reply, built.page)
    })
  mountFiles(app, built, assetHeaders)
}

const notBuilt = `This page is not ready yet. Please tell the person who gave you the link.

On the server, in the folder of Skerry: npm run build
Then start the server again. npm start does both.
`
