import { useQuery } from '@tanstack/react-query'
import { createFileRoute, notFound } from '@tanstack/react-router'
import { Activity } from '../../../../agents/activity.tsx'
import { agentsQuery } from '../../../../agents/queries.ts'
import { Tasks } from '../../../../agents/tasks.tsx'
import { Versions } from '../../../../agents/versions.tsx'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { AnchorLink } from '../../../../ui/links.tsx'
import { Page } from '../../../../ui/page.tsx'

/** One agent; the loader finds it by its slug. */
export const Route = createFileRoute('/_app/orgs/$org/agents/$agent')({
  loader: async ({ context: { queryClient, org }, params }) => {
    if (org.role === 'member') return { first: null }
    const agents = await queryClient.ensureQueryData(agentsQuery(org.id))
    const first = agents.find(({ slug }) => slug === params.agent)
    if (!first) throw notFound()
    return { first }
  },
  component: AgentPage,
})

function AgentPage() {
  const { org } = Route.useRouteContext()
  const { first } = Route.useLoaderData()
  const { data } = useQuery({ ...agentsQuery(org.id), enabled: first !== null })
  const agent = data?.find(({ id }) => id === first?.id) ?? first
  return (
    <Page
      title={agent?.name ?? 'Agent'}
      description={
        <AnchorLink to="/orgs/$org/agents" params={{ org: org.slug }} size="sm">
          Agents
        </AnchorLink>
      }
    >
      <ForAdmins>
        {agent && (
          <>
            <Versions agent={agent} />
            <Tasks agent={agent} />
            <Activity agent={agent} />
          </>
        )}
      </ForAdmins>
    </Page>
  )
}
