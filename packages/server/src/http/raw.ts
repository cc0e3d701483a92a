import type { FastifyInstance } from 'fastify'
import type { Context } from './context.ts'
import type { AnyRoute } from './route.ts'

/**
 * What is answered as bytes and is no operation of the API: pages, files, documents, redirects. It takes no credential, and
 * the access matrix lists its paths.
 */
export interface RawRoute {
  method: 'GET' | 'POST'
  /** `*` at the end stands for any rest. */
  paths: readonly string[]
  reason: string
  mount: (app: FastifyInstance, context: Context, routes: readonly AnyRoute[]) => void
}

/** One line of a feature's table: paths, why they are open, and what mounts them. */
export const raw = (
  paths: readonly string[],
  reason: string,
  mount: RawRoute['mount'],
  method: RawRoute['method'] = 'GET',
): RawRoute => ({ method, paths, reason, mount })

/** Mounts them, and refuses to start with a method and path that no line lists. */
export function mountRaw(
  app: FastifyInstance,
  context: Context,
  routes: readonly AnyRoute[],
  rawRoutes: readonly RawRoute[],
): void {
  let listed: RawRoute | undefined
  app.addHook('onRoute', ({ method, url }) => {
    if (!listed || !lists(listed, [method].flat(), url)) throw new Error(`${method} ${url} is in no list of raw routes`)
  })
  for (const rawRoute of rawRoutes) {
    listed = rawRoute
    rawRoute.mount(app, context, routes)
  }
}

/** The framework answers HEAD by itself wherever it answers GET. */
const lists = ({ method, paths }: RawRoute, methods: string[], url: string): boolean =>
  methods.every((one) => one === method || (one === 'HEAD' && method === 'GET')) &&
  paths.some((path) => covers(path, url))

const covers = (path: string, url: string): boolean =>
  path === url || (path.endsWith('*') && url.startsWith(path.slice(0, -1)))
