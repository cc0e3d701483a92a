import { useQuery } from '@tanstack/react-query'
import { useLoaderData, useRouteContext } from '@tanstack/react-router'
import { appTabs, usableBy } from '../nav.ts'
import { TabNav } from '../ui/tab-nav.tsx'
import { appQuery } from './queries.ts'

/** Returns the application in the address, with its current name, and the query of its environments. */
export function useApp() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { app } = useLoaderData({ from: '/_app/orgs/$org/apps/$app' })
  const query = useQuery(appQuery(org.id, app.id))
  return { app: query.data?.app ?? app, query }
}

/** The tabs between the pages of an application. */
export function AppTabs() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { app } = useApp()
  return <TabNav label="Application" tabs={usableBy(org.role, appTabs)} params={{ org: org.slug, app: app.slug }} />
}
