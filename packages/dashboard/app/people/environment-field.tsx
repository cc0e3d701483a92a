import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { ProblemAlert } from '../ui/problem.tsx'
import { environmentLabelsQuery, type Place } from './environment-labels.ts'

const any: Place['kind'][] = ['application', 'group', 'branch']

/**
 * A field to choose an environment whose key this person holds. It also offers branches, whose lists do not say who
 * holds the key.
 */
export function EnvironmentField(props: {
  value: string | null
  onChange: (value: string | null) => void
  kinds?: Place['kind'][]
}) {
  const { value, onChange, kinds = any } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(environmentLabelsQuery(org.id))
  const places = (query.data ?? []).filter(({ canDecrypt, kind }) => canDecrypt !== false && kinds.includes(kind))
  return (
    <>
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Select
        label="Environment"
        description="You can choose an environment whose key you hold."
        searchable
        nothingFoundMessage="No matching environment whose key you hold"
        data={places.map(({ id, label }) => ({ value: id, label }))}
        value={value}
        openOnFocus={false}
        onChange={onChange}
        data-autofocus
      />
    </>
  )
}
