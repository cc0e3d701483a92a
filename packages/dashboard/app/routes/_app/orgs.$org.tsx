import { createFileRoute, notFound, Outlet } from '@tanstack/react-router'
import { watchOrg } from '../../live/watch-org.ts'

/** The parent route of all pages of one organization. It puts `org` into the context of the routes below. */
export const Route = createFileRoute('/_app/orgs/$org')({
  beforeLoad: ({ context, params }) => {
    const org = context.me.orgs.find((candidate) => candidate.slug === params.org)
    if (!org) throw notFound()
    watchOrg(org.id)
    return { org }
  },
  component: Outlet,
})
