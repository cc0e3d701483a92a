import { resolve } from '@skerry/contract/resolve'
import { openCache } from '../../../packages/server/src/features/resolve/cache.ts'
import { open } from '../../../packages/server/src/http/access.ts'
import type { Context } from '../../../packages/server/src/http/context.ts'
import { matches } from '../../../packages/server/src/http/etag.ts'
import { unlimited } from '../../../packages/server/src/http/limits.ts'
import { openLog } from '../../../packages/server/src/http/log.ts'
import { type FromMemory, on, Reply } from '../../../packages/server/src/http/route.ts'
import { serve } from '../../../packages/server/src/http/serve.ts'
import { openMeter } from '../../../packages/server/src/jobs/meter.ts'
import { given } from './listen.ts'

// Skerry's own server and cache, answering resolve to everyone: all that it does but ask who is there.

const { body, etag, query } = given<{ body: string; etag: string; query: string }>()
const now = () => new Date()
const cache = openCache({ bytesMax: 64 * 1024 * 1024, alone: true, monotonicMs: () => performance.now() })
const keyOf = (rawQuery: string) => `everyone ${rawQuery}`
cache.keep(cache.mark(), keyOf(query), {
  orgId: 'org',
  environmentIds: [],
  bytes: Buffer.from(body),
  etag,
  validUntilMs: Number.POSITIVE_INFINITY,
})
const context = {
  config: { trustedProxies: [] },
  log: openLog('error', (line) => process.stderr.write(line)),
  limiter: unlimited,
  meter: openMeter(null as never, now),
  cache,
  now,
} as unknown as Context

/** As features/resolve/resolve.ts does, without the token. */
const fromMemory: FromMemory = (_, headers, rawQuery) => {
  const answer = cache.find(keyOf(rawQuery), now().getTime())
  if (!answer) return undefined
  context.limiter.take('principal', 'everyone')
  context.meter.count(answer.orgId, 'resolves')
  if (matches(headers['if-none-match'], answer.etag)) return new Reply(304, null, { etag: answer.etag })
  return new Reply(200, answer.bytes, { etag: answer.etag, 'cache-control': 'private, no-cache' })
}

const missed = () => Promise.reject(new Error('the floor has one answer'))
const app = serve(context, [on(resolve.get, open('measures what authentication costs'), missed, { fromMemory })])
app.get('/ready', async (_, reply) => reply.send('{}'))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.on('SIGTERM', () => process.exit(0))
