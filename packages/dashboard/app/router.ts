import { createRouter } from '@tanstack/react-router'
import { queryClient } from './queries.ts'
import { routeTree } from './routes.gen.ts'
import { session } from './session.ts'
import { NotFound } from './ui/not-found.tsx'
import { RouteProblem } from './ui/problem.tsx'

export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  // The router keeps no data of its own, because Query decides what is stale.
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: RouteProblem,
  defaultNotFoundComponent: NotFound,
})

session.onEnd(() => {
  queryClient.clear()
  void router.invalidate()
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
