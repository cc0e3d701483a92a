import { createReadStream } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type BuiltFile, type BuiltPages, suffixes } from './build.ts'
import { matches } from './etag.ts'

/** Serves every file of a build except its page. Files are compressed by the build and read at each request. */
export function mountFiles(app: FastifyInstance, { build, dist }: BuiltPages, headers: Record<string, string>): void {
  for (const [path, file] of Object.entries(build.files))
    if (!path.endsWith('/'))
      app.get(path, async (request, reply) => sendFile(request, reply, { dist, path, file, headers }))
}

interface Sending {
  dist: URL
  path: string
  file: BuiltFile
  headers: Record<string, string>
}

/** Sends a file of a build, or 304 to a caller that has it. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { dist, path, file, headers }: Sending,
): FastifyReply {
  const etag = `"${file.integrity}"`
  // Names of assets contain their hash. Other files may change with a release.
  const isFixed = path.includes('/assets/')
  reply.headers({
    ...headers,
    'cache-control': isFixed ? 'public, max-age=31536000, immutable' : 'public, no-cache',
    vary: 'accept-encoding',
    etag,
    'x-request-id': request.id,
  })
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const encoding = file.encodings.find((one) => accepts(request.headers['accept-encoding'], one))
  if (encoding) reply.header('content-encoding', encoding)
  reply.type(file.type)
  return reply.send(createReadStream(new URL(file.file + (encoding ? suffixes[encoding] : ''), dist)))
}

const compress = promisify(gzip)

/**
 * Sends a page. It is compressed for each answer, because it has a nonce of its own. The page repeats nothing from the
 * request, so its compressed length reveals nothing about the nonce.
 */
export async function sendPage(request: FastifyRequest, reply: FastifyReply, page: string): Promise<FastifyReply> {
  reply.type('text/html; charset=utf-8').header('vary', 'accept-encoding')
  if (!accepts(request.headers['accept-encoding'], 'gzip')) return reply.send(page)
  return reply.header('content-encoding', 'gzip').send(await compress(page))
}

/** Whether an Accept-Encoding header (RFC 9110 section 12.5.3) allows this encoding, with a weight above zero. */
function accepts(header: string | string[] | undefined, encoding: string): boolean {
  const offers = String(header ?? '').split(',')
  return offers.some((offer) => {
    const [name = '', ...parameters] = offer.split(';').map((part) => part.trim())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The API works without the pages. A person who opens one, perhaps with a set-up link, reads which command to run. */
export function mountNotBuilt(app: FastifyInstance, paths: readonly string[], text: string): void {
  for (const path of paths)
    app.get(path, async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-request-id': request.id })
      return reply.type('text/plain; charset=utf-8').send(text)
    })
}
