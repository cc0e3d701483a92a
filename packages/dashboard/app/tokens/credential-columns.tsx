import { Badge } from '@mantine/core'
import { NameAndId } from '../ui/cells.tsx'
import type { ListColumn } from '../ui/list.tsx'
import { timeColumn } from '../ui/relative-time.tsx'

interface Credential {
  id: string
  name: string
  revokedAt: string | null
  lastUsedAt: string | null
  createdAt: string
}

/** The columns of a list of credentials that are shown only once and work until revoked. */
export const credentialColumns = (header: string): ListColumn<Credential>[] => [
  { header, cell: ({ name, id }) => <NameAndId name={name} id={id} />, sort: ({ name }) => name, width: '45%' },
  {
    header: 'State',
    cell: ({ revokedAt }) => (
      <Badge color={revokedAt === null ? 'sea' : 'gray'} variant="light">
        {revokedAt === null ? 'in use' : 'revoked'}
      </Badge>
    ),
    sort: ({ revokedAt }) => revokedAt,
    width: 120,
  },
  timeColumn('Last used', 'lastUsedAt'),
  timeColumn('Created', 'createdAt'),
]
