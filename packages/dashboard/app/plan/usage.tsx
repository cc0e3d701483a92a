import { Badge, Group, Progress, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { OneLine } from '../ui/cells.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import type { Billing } from './queries.ts'

type Usage = Billing['usage'][number]

/** Shows the usage beside what the plan includes. */
export function UsageList({ query }: { query: UseQueryResult<Billing> }) {
  return (
    <Section title="Usage">
      <List
        label="Usage"
        query={query}
        rows={({ usage }) => usage}
        columns={columns}
        minWidth={520}
        rowId={({ key }) => key}
        rowName={({ label }) => label}
        empty={null}
      />
    </Section>
  )
}

const number = new Intl.NumberFormat('en')

const columns: ListColumn<Usage>[] = [
  { header: 'What', cell: ({ label }) => <OneLine text={label} />, sort: ({ label }) => label },
  {
    header: 'Used',
    cell: ({ quantity }) => (quantity === null ? 'unknown' : number.format(quantity)),
    sort: ({ quantity }) => quantity,
    width: 120,
  },
  {
    header: 'Included',
    cell: ({ included }) => (included === null ? 'unlimited' : number.format(included)),
    sort: ({ included }) => included,
    width: 120,
  },
  { header: 'Share', cell: (usage) => <Share usage={usage} />, width: '26%' },
]

function Share({ usage: { label, quantity, included } }: { usage: Usage }) {
  if (quantity === null || included === null || included === 0) return null
  const percent = Math.min(100, Math.round((quantity / included) * 100))
  return (
    <Progress
      value={percent}
      color={percent >= 100 ? 'red' : percent >= 80 ? 'orange' : 'sea'}
      aria-label={`${label}: ${percent} percent of what is included`}
    />
  )
}

/** Shows the plan's features and the operator's overrides. */
export function Features({ billing: { entitlements, overrides } }: { billing: Billing }) {
  return (
    <Section title="Features">
      <Group gap="xs" mb="sm">
        {entitlements.map(({ key, granted }) => (
          <Badge key={key} color={granted ? 'sea' : 'gray'} variant="light" tt="none">
            {key.replace('feature.', '').replaceAll('_', ' ')}
            {granted ? '' : ': not included'}
          </Badge>
        ))}
      </Group>
      {overrides.map(({ key, value, reason }) => (
        <Text key={key} size="sm" c="dimmed">
          The operator of this server has set {key} to {value === null ? 'unlimited' : String(value)}: {reason}
        </Text>
      ))}
    </Section>
  )
}
