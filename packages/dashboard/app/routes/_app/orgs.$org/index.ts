import { createFileRoute, redirect } from '@tanstack/react-router'

/** Redirects from an organization to its applications. */
export const Route = createFileRoute('/_app/orgs/$org/')({
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/orgs/$org/apps', params })
  },
})
