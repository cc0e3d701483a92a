import { startFloor } from '../child.ts'
import type { Bench } from '../figure.ts'
import { compare } from '../measure.ts'
import { request } from '../tenant.ts'

/** A small answer, so that the figure measures the proxy and not the copying. */
export const body = JSON.stringify({ items: Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}` })) })

/** Settings that send every request to the upstream. */
export const routeTo = (port: number) =>
  `[[route]]\nprefix = "/"\nupstream = "http://127.0.0.1:${port}"\nallow = ["API_KEY"]\n`

export async function proxyRoute(bench: Bench): Promise<number> {
  await using upstream = await startFloor('fixed', { body, contentType: 'application/json', etag: '"1"' })
  await using ours = await startFloor('proxied', { settings: routeTo(upstream.port) })
  await using floor = await startFloor('passing', { port: upstream.port })
  const requests = [request('GET', '/v1/items', '{{skerry:API_KEY}}')]
  const { perSecond } = await compare(
    bench,
    { name: 'route with a secret', requests, server: ours },
    { name: 'bare proxy', requests, server: floor },
  )
  return perSecond
}
