import { createFileRoute, notFound, Outlet } from '@tanstack/react-router'
import { appBranchesQuery, appQuery, appsQuery } from '../../../../secrets/queries.ts'

/** The parent route of the pages of one application. The loader finds the application by its slug. */
export const Route = createFileRoute('/_app/orgs/$org/apps/$app')({
  loader: async ({ context, params }) => {
    const { apps } = await context.queryClient.ensureQueryData(appsQuery(context.org.id))
    const app = apps.find(({ slug }) => slug === params.app)
    if (!app) throw notFound()
    void context.queryClient.prefetchQuery(appQuery(context.org.id, app.id))
    void context.queryClient.prefetchQuery(appBranchesQuery(context.org.id, app.id))
    return { app }
  },
  component: Outlet,
})
