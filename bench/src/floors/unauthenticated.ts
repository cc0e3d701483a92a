import { resolve } from '@skerry/contract/resolve/endpoints'
import { routes } from '../../../packages/server/src/app.ts'
import { readConfig } from '../../../packages/server/src/config.ts'
import type { ResolveContext } from '../../../packages/server/src/features/resolve/cache.ts'
import { choose, tagged } from '../../../packages/server/src/features/resolve/resolve.ts'
import { open } from '../../../packages/server/src/http/access.ts'
import { type FastPath, type In, route } from '../../../packages/server/src/http/route.ts'
import { openLog } from '../../../packages/server/src/kernel/log.ts'
import { startServer } from '../../../packages/server/src/server.ts'
import { given } from './listen.ts'

// Skerry's whole server with one more route, which gives the answers of resolve to everyone. Both routes are in one
// process, so that they differ only in authentication.

const unauthenticated = { ...resolve.get, path: '/v1/unauthenticated' as const }
const keyOf = (rawQuery: string) => `everyone ${rawQuery}`

/** Works like features/resolve/resolve.ts, but without the token. */
const fastPath: FastPath<ResolveContext> = (context, { headers }, rawQuery, counted) => {
  const answer = context.cache.find(keyOf(rawQuery), context.now().getTime())
  if (!answer || !context.limiter.admits('principal', 'everyone', counted)) return undefined
  return choose(context, headers, answer)
}

/** Caches the answer for the first caller, and then gives it to everyone. */
async function get({ context, headers, rawQuery }: In<typeof unauthenticated, object, ResolveContext>) {
  const generation = context.cache.generation()
  const answered = await fetch(`${url}${resolve.get.path}?${rawQuery}`, {
    headers: { authorization: String(headers.authorization) },
  })
  const text = await answered.text()
  const { orgId } = JSON.parse(text).scope
  const answer = { orgId, environmentIds: [], validUntilMs: Number.POSITIVE_INFINITY, ...tagged(text) }
  context.cache.keep(generation, keyOf(rawQuery), answer)
  return choose(context, headers, answer)
}

routes.push(route(unauthenticated, open('measures what authentication costs'), get, { fastPath }))
const { settings } = await given<{ settings: Record<string, string> }>()
const config = readConfig({ ...settings, SKERRY_PORT: process.env.PORT })
const log = openLog('error', (line) => process.stderr.write(line))
const { url } = await startServer(config, log, () => new Date())
process.on('SIGTERM', () => process.exit(0))
