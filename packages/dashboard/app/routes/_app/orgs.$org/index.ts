import { createFileRoute, redirect } from '@tanstack/react-router'
import { holdingsQuery } from '../../../welcome/holdings.ts'

/**
 * Redirects from an organization to its applications. A person who was invited and has no key yet gets to the page that says
 * what opens later, and how to ask.
 */
export const Route = createFileRoute('/_app/orgs/$org/')({
  beforeLoad: async ({ context, params }) => {
    const { org, queryClient } = context
    const isWaiting = org.role !== 'owner' && (await queryClient.fetchQuery(holdingsQuery(org.id))).length === 0
    throw redirect({ to: isWaiting ? '/orgs/$org/welcome' : '/orgs/$org/apps', params })
  },
})
