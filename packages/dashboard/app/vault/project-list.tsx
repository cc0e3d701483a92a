import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { NameAndId, OneLine } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { type Project, projectsQuery } from './queries.ts'

/** Lists the vault projects: the products whose users connect accounts. */
export function ProjectList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(projectsQuery(org.id))
  return (
    <List
      label="Vault projects"
      query={query}
      rows={(projects) => projects}
      columns={columnsOf(org.slug)}
      minWidth={620}
      rowId={({ id }) => id}
      rowName={({ name }) => name}
      empty={
        <Empty title="No vault project yet" command={`skerry vault project create Northwind --org ${org.slug}`}>
          Make a project for each product whose users connect accounts: API keys, sign-ins, OAuth accounts and browser
          sessions. Only the product’s executor can open what they enter.
        </Empty>
      }
    />
  )
}

const columnsOf = (org: string): ListColumn<Project>[] => [
  {
    header: 'Project',
    cell: ({ id, name }) => (
      <NameAndId
        name={name}
        id={id}
        link={
          <AnchorLink to="/orgs/$org/vault/$project" params={{ org, project: id }} size="sm" fw={500}>
            {name}
          </AnchorLink>
        }
      />
    ),
    sort: ({ name }) => name,
    width: '42%',
  },
  {
    header: 'Shown as',
    cell: ({ display }) => <OneLine text={display.name} />,
    sort: ({ display }) => display.name,
  },
  { header: 'State', cell: ({ status }) => <ProjectState status={status} />, sort: ({ status }) => status, width: 120 },
  timeColumn('Changed', 'updatedAt', 140),
]

function ProjectState({ status }: Pick<Project, 'status'>) {
  return (
    <Badge color={status === 'active' ? 'sea' : 'red'} variant="light">
      {status === 'active' ? 'in use' : 'disabled'}
    </Badge>
  )
}
