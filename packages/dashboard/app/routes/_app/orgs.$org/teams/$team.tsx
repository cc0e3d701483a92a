import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Outlet } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { GrantAccessDialog } from '../../../../granting/lazy.ts'
import { teamTabs } from '../../../../nav.ts'
import { RekeyNotice } from '../../../../people/rekey-notice.tsx'
import { type TeamDetail, teamQuery } from '../../../../teams/queries.ts'
import { WaitingKeys } from '../../../../teams/waiting-keys.tsx'
import { countText } from '../../../../teams/words.ts'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'
import { TabNav } from '../../../../ui/tab-nav.tsx'
import { useDialog } from '../../../../ui/use-dialog.ts'

// This part of the page is loaded when it first opens.
const AddPeople = lazy(async () => ({ default: (await import('../../../../teams/add-people.tsx')).AddPeople }))

/** The parent route of one team's pages: the title, the keys that wait, and the tabs. */
export const Route = createFileRoute('/_app/orgs/$org/teams/$team')({
  loader: ({ context: { queryClient, org }, params }) => void queryClient.prefetchQuery(teamQuery(org.id, params.team)),
  component: TeamLayout,
})

function TeamLayout() {
  const { org } = Route.useRouteContext()
  const { team } = Route.useParams()
  const query = useQuery(teamQuery(org.id, team))
  return <Loaded query={query}>{(detail) => <TeamPage key={team} detail={detail} />}</Loaded>
}

function TeamPage({ detail }: { detail: TeamDetail }) {
  const { org } = Route.useRouteContext()
  const { id, name, members, environments } = detail.team
  const tabs = teamTabs.filter(({ admins }) => !admins || org.role !== 'member')
  return (
    <Page
      title={name}
      crumbs={[{ label: 'Teams', link: { to: '/orgs/$org/teams', params: { org: org.slug } } }]}
      about={`${members === 1 ? '1 person' : `${members} people`}, ${countText(environments, 'environment')}`}
      actions={org.role !== 'member' && <Actions detail={detail} />}
      tabs={<TabNav label="Team" tabs={tabs} params={{ org: org.slug, team: id }} />}
    >
      <RekeyNotice />
      <WaitingKeys teamId={id} />
      <Outlet />
    </Page>
  )
}

function Actions({ detail }: { detail: TeamDetail }) {
  const { org } = Route.useRouteContext()
  const adding = useDialog()
  const granting = useDialog()
  return (
    <>
      <Button variant="default" onClick={() => adding.open()}>
        Add people
      </Button>
      <Button onClick={() => granting.open()}>Grant access</Button>
      <Suspense>
        {adding.show((onClose) => (
          <AddPeople orgId={org.id} detail={detail} onClose={onClose} />
        ))}
        {granting.show((onClose) => (
          <GrantAccessDialog first={[{ kind: 'team', id: detail.team.id }]} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}
