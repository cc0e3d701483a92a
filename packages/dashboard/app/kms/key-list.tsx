import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { NameAndId, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { type ManagedKey, managedKeysQuery } from './queries.ts'
import { specLabels } from './specs.ts'

/** The list of managed keys. Admins see all of the organization. Members see the keys that they may use. */
export function KeyList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(managedKeysQuery(org.id))
  return (
    <List
      label="Managed keys"
      query={query}
      rows={(keys) => keys}
      columns={columnsOf(org)}
      minWidth={620}
      rowId={({ id }) => id}
      rowName={({ name }) => name}
      empty={
        <Empty title="No managed key yet" command={`skerry kms create receipts --spec aes-256-gcm --org ${org.slug}`}>
          Programs encrypt files and sign releases with managed keys. You make them here or in a terminal. The server
          stores them encrypted, for the people and programs that may use them.
        </Empty>
      }
    />
  )
}

const columnsOf = ({ slug, role }: { slug: string; role: string }): ListColumn<ManagedKey>[] => [
  {
    header: 'Key',
    cell: ({ id, name }) => (
      <NameAndId
        name={name}
        id={id}
        link={
          role === 'member' ? (
            name
          ) : (
            <AnchorLink to="/orgs/$org/kms/$key" params={{ org: slug, key: id }} size="sm" fw={500}>
              {name}
            </AnchorLink>
          )
        }
      />
    ),
    sort: ({ name }) => name,
    width: '42%',
  },
  { header: 'For', cell: ({ spec }) => <TwoLines {...specLabels[spec]} />, sort: ({ spec }) => spec },
  {
    header: 'Version',
    cell: ({ currentVersion }) => currentVersion,
    sort: ({ currentVersion }) => currentVersion,
    width: 90,
  },
  {
    header: 'State',
    cell: ({ disabled }) => <KeyState disabled={disabled} />,
    sort: ({ disabled }) => Number(disabled),
    width: 110,
  },
  timeColumn('Changed', 'updatedAt', 120),
]

function KeyState({ disabled }: { disabled: boolean }) {
  return (
    <Badge color={disabled ? 'red' : 'sea'} variant="light">
      {disabled ? 'disabled' : 'in use'}
    </Badge>
  )
}
