import { Badge, Code, Table, Text } from '@mantine/core'
import { vendorName } from '@skerry/contract/vendors'
import { useRouteContext } from '@tanstack/react-router'
import { AnchorLink } from '../ui/links.tsx'
import { actionLabel, actorLabels, isAlarming } from './labels.ts'
import type { Entry, EntryEnvironment } from './queries.ts'

/** The label of the action. Alarming actions are red. */
export function Action({ entry: { action } }: { entry: Entry }) {
  if (!isAlarming(action))
    return (
      <Text size="sm" fw={500}>
        {actionLabel(action)}
      </Text>
    )
  return (
    <Badge color="red" variant="light">
      {actionLabel(action)}
    </Badge>
  )
}

interface Props {
  entry: Entry
  nameOf: (id: string) => string
}

export function Actor({ entry: { actorId, actorType }, nameOf }: Props) {
  const type = actorLabels[actorType] ?? actorType
  if (actorId === null) return <Text size="sm">{type}</Text>
  const name = nameOf(actorId)
  return (
    <Text size="sm" truncate title={`${name} (${type})`}>
      {name}
      {actorType !== 'user' && (
        <Badge ml={6} size="xs" color="gray" variant="light">
          {type}
        </Badge>
      )}
    </Text>
  )
}

interface ResourceProps extends Props {
  /** Environments by id. */
  environments: Record<string, EntryEnvironment>
}

/** Shows the resource and its environment. The name is the one in the entry, or else the current one. */
export function Resource({ entry, nameOf, environments }: ResourceProps) {
  const { resourceId, resourceType, metadata } = entry
  const environment = environments[String(metadata.environmentId)]
  const said = metadata.name ?? metadata.placement ?? metadata.email
  const name = typeof said === 'string' ? said : resourceId === null ? '' : nameOf(resourceId)
  return (
    <Text size="sm" truncate title={resourceId ?? ''}>
      <Text span size="sm" c="dimmed">
        {resourceType.replaceAll('_', ' ')}
      </Text>{' '}
      {name}
      {environment && (
        <Text span size="sm" c="dimmed">
          {' '}
          in {labelOf(environment)}
        </Text>
      )}
    </Text>
  )
}

/** `Web shop / Production`, or `Web shop / Production @ fix-login` for a branch. */
const labelOf = ({ name, parent, owner }: EntryEnvironment): string =>
  `${owner.name} / ${parent ? `${parent.name} @ ` : ''}${name}`

/** Shows a provider by its vendor's name instead of its tag. */
const withVendors = (field: string, value: unknown) =>
  field === 'provider' && typeof value === 'string' ? vendorName(value) : value

/** All other fields of the entry. */
export function EntryDetails({ entry }: { entry: Entry }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const facts = [
    ['Action', entry.action],
    ['Entry', entry.id],
    ['By', entry.actorId],
    ['To', entry.resourceId],
    ['Address', entry.ipAddress],
    ['Client', entry.userAgent],
    ['Request', entry.requestId],
  ] as const
  return (
    <>
      <Table withRowBorders={false} verticalSpacing={2} highlightOnHover={false} layout="fixed">
        <Table.Tbody>
          <Table.Tr>
            <Table.Th w={120}>At</Table.Th>
            <Table.Td className="mono">{entry.createdAt}</Table.Td>
          </Table.Tr>
          {facts.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={120}>{label}</Table.Th>
              <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
                {value ?? 'unknown'}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {Object.keys(entry.metadata).length > 0 && (
        <Code block mt="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {JSON.stringify(entry.metadata, withVendors, 2)}
        </Code>
      )}
      {entry.resourceId !== null && (
        <AnchorLink
          to="/orgs/$org/audit"
          params={{ org: org.slug }}
          search={{ resourceId: entry.resourceId }}
          size="xs"
        >
          Everything that happened to it
        </AnchorLink>
      )}
      {entry.requestId !== null && (
        <AnchorLink
          to="/orgs/$org/audit"
          params={{ org: org.slug }}
          search={{ requestId: entry.requestId }}
          size="xs"
          ml={entry.resourceId === null ? 0 : 'md'}
        >
          Everything that this request did
        </AnchorLink>
      )}
    </>
  )
}
