import { createFileRoute, notFound, Outlet } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { watchOrg } from '../../live/watch-org.ts'
import { requireKnownOrg } from '../../trust/known.ts'

// Loaded after the page, which must not wait for it.
const Arrivals = lazy(async () => ({ default: (await import('../../passing/arrivals.tsx')).Arrivals }))

/** The parent route of all pages of one organization. It puts `org` into the context of the routes below. */
export const Route = createFileRoute('/_app/orgs/$org')({
  beforeLoad: ({ context, params }) => {
    const org = context.me.orgs.find((candidate) => candidate.slug === params.org)
    if (!org) throw notFound()
    requireKnownOrg(org)
    watchOrg(org.id)
    return { org }
  },
  component: OrgPages,
})

function OrgPages() {
  const { org } = Route.useRouteContext()
  return (
    <>
      <Outlet />
      <Suspense>
        <Arrivals key={org.id} />
      </Suspense>
    </>
  )
}
