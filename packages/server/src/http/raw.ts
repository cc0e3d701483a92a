import type { FastifyInstance } from 'fastify'
import type { Context } from '../kernel/context.ts'
import type { Route } from './route.ts'

/**
 * What is answered as bytes and is no operation of the API: pages, files, documents, redirects. It takes no credential, and
 * the access matrix lists its paths.
 */
export interface RawRoute {
  /** `*` at the end stands for any rest. */
  paths: readonly string[]
  reason: string
  mount: (app: FastifyInstance, context: Context, routes: readonly Route[]) => void
}

/** One line of a feature's table: paths, why they are open, and what mounts them. */
export const raw = (paths: readonly string[], reason: string, mount: RawRoute['mount']): RawRoute => ({
  paths,
  reason,
  mount,
})

/** Mounts them, and refuses to start with a path that no line lists. */
export function mountRaw(
  app: FastifyInstance,
  context: Context,
  routes: readonly Route[],
  rawRoutes: readonly RawRoute[],
): void {
  let listed: readonly string[] = []
  app.addHook('onRoute', ({ url }) => {
    if (!listed.some((path) => covers(path, url))) throw new Error(`${url} is in no list of raw routes`)
  })
  for (const { paths, mount } of rawRoutes) {
    listed = paths
    mount(app, context, routes)
  }
}

const covers = (path: string, url: string): boolean =>
  path === url || (path.endsWith('*') && url.startsWith(path.slice(0, -1)))
