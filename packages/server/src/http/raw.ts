import type { FastifyInstance } from 'fastify'
import type { Context } from './context.ts'

/**
 * Paths that are not operations of the API: pages, files, documents, redirects, and the webhook of the payment
 * provider. They require no credential of Skerry, and the access matrix lists them.
 */
export interface RawRoute {
  method: 'GET' | 'POST'
  /** `*` at the end matches any rest. */
  paths: readonly string[]
  reason: string
  mount: (app: FastifyInstance, context: Context) => void
}

/** One line of a feature's table: paths, why they need no credential, and the function that mounts them. */
export const raw = (
  paths: readonly string[],
  reason: string,
  mount: RawRoute['mount'],
  method: RawRoute['method'] = 'GET',
): RawRoute => ({ method, paths, reason, mount })

/** Mounts the raw routes. The server does not start if one mounts a method and path that its line does not list. */
export function mountRaw(app: FastifyInstance, context: Context, rawRoutes: readonly RawRoute[]): void {
  let listed: RawRoute | undefined
  app.addHook('onRoute', ({ method, url }) => {
    if (!listed || !lists(listed, [method].flat(), url)) throw new Error(`${method} ${url} is in no list of raw routes`)
  })
  for (const rawRoute of rawRoutes) {
    listed = rawRoute
    rawRoute.mount(app, context)
  }
}

/** Fastify answers HEAD by itself wherever it answers GET. */
const lists = ({ method, paths }: RawRoute, methods: string[], url: string): boolean =>
  methods.every((one) => one === method || (one === 'HEAD' && method === 'GET')) &&
  paths.some((path) => covers(path, url))

const covers = (path: string, url: string): boolean =>
  path === url || (path.endsWith('*') && url.startsWith(path.slice(0, -1)))
