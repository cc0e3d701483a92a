import { resolve } from '@skerry/contract/resolve'
import { routes } from '../../../packages/server/src/app.ts'
import { readConfig } from '../../../packages/server/src/config.ts'
import { open } from '../../../packages/server/src/http/access.ts'
import { matches } from '../../../packages/server/src/http/etag.ts'
import { openLog } from '../../../packages/server/src/http/log.ts'
import { type FromMemory, type In, on, Reply } from '../../../packages/server/src/http/route.ts'
import { startServer } from '../../../packages/server/src/server.ts'
import { given } from './listen.ts'

// Skerry's whole server with one route more: the answers of resolve for everyone. In one process, what differs between the
// two is to ask who is there, and nothing else.

const unauthenticated = { ...resolve.get, path: '/v1/unauthenticated' as const }
const keyOf = (rawQuery: string) => `everyone ${rawQuery}`

/** As features/resolve/resolve.ts does, without the token. */
const fromMemory: FromMemory = (context, { headers }, rawQuery) => {
  const answer = context.cache.find(keyOf(rawQuery), context.now().getTime())
  if (!answer) return undefined
  context.limiter.take('principal', 'everyone')
  context.meter.count(answer.orgId, 'resolves')
  if (matches(headers['if-none-match'], answer.etag)) return new Reply(304, null, { etag: answer.etag })
  return new Reply(200, answer.bytes, { etag: answer.etag, 'cache-control': 'private, no-cache' })
}

/** Keeps, and then gives to everyone, what the first who asks is answered. */
async function get({ context, headers, rawQuery }: In<typeof unauthenticated>) {
  const mark = context.cache.mark()
  const answered = await fetch(`${url}${resolve.get.path}?${rawQuery}`, {
    headers: { authorization: String(headers.authorization) },
  })
  const bytes = Buffer.from(await answered.arrayBuffer())
  const etag = String(answered.headers.get('etag'))
  const { orgId } = JSON.parse(bytes.toString()).scope
  const answer = { orgId, environmentIds: [], bytes, etag, validUntilMs: Number.POSITIVE_INFINITY }
  context.cache.keep(mark, keyOf(rawQuery), answer)
  return new Reply(200, bytes, { etag, 'cache-control': 'private, no-cache' })
}

routes.push(on(unauthenticated, open('measures what authentication costs'), get, { fromMemory }))
const { settings } = given<{ settings: Record<string, string> }>()
const config = readConfig({ ...settings, SKERRY_PORT: process.env.PORT })
const log = openLog('error', (line) => process.stderr.write(line))
const { url } = await startServer(config, log, () => new Date())
process.on('SIGTERM', () => process.exit(0))
