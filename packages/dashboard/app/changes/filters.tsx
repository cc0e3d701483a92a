import { Group, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { type ChangeFilter, type Status, statuses } from './queries.ts'

/** The filters of the list of changes. */
export function Filters({ filter, onChange }: { filter: ChangeFilter; onChange: (filter: ChangeFilter) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: environments = [] } = useQuery(environmentLabelsQuery(org.id))
  return (
    <Group mb="md" gap="sm">
      <Select
        aria-label="Status"
        size="xs"
        w={150}
        allowDeselect={false}
        data={[...statuses, 'all']}
        value={filter.status ?? 'open'}
        onChange={(value) => onChange({ ...filter, status: (value ?? 'open') as Status | 'all' })}
      />
      <Select
        aria-label="Environment"
        placeholder="Every environment"
        size="xs"
        w={280}
        searchable
        clearable
        nothingFoundMessage="No environment by that name"
        data={environments.map(({ id, label }) => ({ value: id, label }))}
        value={filter.env ?? null}
        onChange={(env) => onChange({ ...(filter.status ? { status: filter.status } : {}), ...(env ? { env } : {}) })}
      />
    </Group>
  )
}
