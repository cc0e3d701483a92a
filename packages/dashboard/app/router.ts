import { createRouter } from '@tanstack/react-router'
import { queryClient } from './queries.ts'
import { routeTree } from './routes.gen.ts'
import { session } from './session.ts'
import { Missing } from './ui/missing.tsx'
import { RouteProblem } from './ui/problem.tsx'

export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  // Query decides what is stale.
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: RouteProblem,
  defaultNotFoundComponent: Missing,
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
