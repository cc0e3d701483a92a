import { useQuery } from '@tanstack/react-query'
import { useLoaderData, useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Others } from '../live/others.tsx'
import { appTabs, usableBy } from '../nav.ts'
import { Page } from '../ui/page.tsx'
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
  return (
    <TabNav
      label="Application"
      tabs={usableBy(org.role, appTabs)}
      params={{ org: org.slug, app: app.slug }}
      beside={<Others orgId={org.id} appId={app.id} />}
    />
  )
}

/** A page of an application, below the tabs. `part` is its tab. */
export function AppPage(props: { part: string; width?: 'text' | 'table'; actions?: ReactNode; children: ReactNode }) {
  const { part, width, actions, children } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { app } = useApp()
  return (
    <Page
      title={app.name}
      crumbs={[{ label: 'Applications', link: { to: '/orgs/$org/apps', params: { org: org.slug } } }]}
      tabs={<AppTabs />}
      part={part}
      actions={actions}
      {...(width && { width })}
    >
      {children}
    </Page>
  )
}
