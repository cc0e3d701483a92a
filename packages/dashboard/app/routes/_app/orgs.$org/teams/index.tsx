import { Button } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useRef } from 'react'
import { api } from '../../../../api.ts'
import { parseCreateSearch } from '../../../../create-search.ts'
import { RekeyNotice } from '../../../../people/rekey-notice.tsx'
import { teamsQuery } from '../../../../teams/queries.ts'
import { TeamList } from '../../../../teams/team-list.tsx'
import { WaitingKeys } from '../../../../teams/waiting-keys.tsx'
import { IconPlus } from '../../../../ui/icons.ts'
import { Page } from '../../../../ui/page.tsx'

// This part of the page is loaded when it first opens.
const CreateTeam = lazy(async () => ({ default: (await import('../../../../teams/create-team.tsx')).CreateTeam }))

export const Route = createFileRoute('/_app/orgs/$org/teams/')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => void queryClient.prefetchQuery(teamsQuery(org.id)),
  component: Teams,
})

function Teams() {
  const { org } = Route.useRouteContext()
  const { create } = Route.useSearch()
  const navigate = Route.useNavigate()
  const isAdmin = org.role !== 'member'
  const created = useRef<string | null>(null)
  const onCreate = async (body: { name: string }) => {
    created.current = (await api.teams.create({ params: { orgId: org.id }, body })).team.id
  }
  const onClose = () => {
    const team = created.current
    if (team === null) return navigate({ search: {}, replace: true })
    return navigate({ to: '/orgs/$org/teams/$team', params: { org: org.slug, team } })
  }
  return (
    <Page
      title="Teams"
      actions={
        isAdmin && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ search: { create: true } })}>
            New team
          </Button>
        )
      }
    >
      <RekeyNotice />
      <WaitingKeys />
      <TeamList />
      <Suspense>
        {isAdmin && create && <CreateTeam orgId={org.id} onCreate={onCreate} onClose={() => void onClose()} />}
      </Suspense>
    </Page>
  )
}
