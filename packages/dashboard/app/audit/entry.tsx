import { ActionIcon, Badge, Code, Collapse, Table, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { IconChevronDown, IconChevronRight } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import type { Entry } from './queries.ts'
import { actorWords, isAlarming, sayAction } from './words.ts'

export interface Names {
  actor: (id: string) => string
  resource: (id: string) => string
}

/** One line of the log, and all that is known of it beneath. */
export function EntryRow({ entry, names }: { entry: Entry; names: Names }) {
  const [opened, setOpened] = useState(false)
  const details = useId()
  return (
    <>
      <Table.Tr>
        <Table.Td pr={0}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={opened ? 'Hide details' : 'Show details'}
            aria-expanded={opened}
            aria-controls={details}
            onClick={() => setOpened(!opened)}
          >
            {opened ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
          </ActionIcon>
        </Table.Td>
        <Table.Td>
          {isAlarming(entry.action) ? (
            <Badge color="red" variant="light">
              {sayAction(entry.action)}
            </Badge>
          ) : (
            <Text size="sm" fw={500}>
              {sayAction(entry.action)}
            </Text>
          )}
        </Table.Td>
        <Table.Td>
          <Actor entry={entry} names={names} />
        </Table.Td>
        <Table.Td>
          <Resource entry={entry} names={names} />
        </Table.Td>
        <Table.Td>
          <RelativeTime at={entry.createdAt} />
        </Table.Td>
      </Table.Tr>
      <Table.Tr style={opened ? {} : { display: 'none' }}>
        <Table.Td colSpan={5} id={details}>
          <Collapse expanded={opened}>{opened && <Details entry={entry} />}</Collapse>
        </Table.Td>
      </Table.Tr>
    </>
  )
}

function Actor({ entry: { actorId, actorType }, names }: { entry: Entry; names: Names }) {
  const type = actorWords[actorType] ?? actorType
  if (actorId === null) return <Text size="sm">{type}</Text>
  const name = names.actor(actorId)
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

/** What it was done to: by the name that the entry gives, else by what is known now. */
function Resource({ entry, names }: { entry: Entry; names: Names }) {
  const { resourceId, resourceType, metadata } = entry
  const said = metadata.name ?? metadata.placement ?? metadata.email
  const name = typeof said === 'string' ? said : resourceId === null ? '' : names.resource(resourceId)
  return (
    <Text size="sm" truncate title={resourceId ?? ''}>
      <Text span size="sm" c="dimmed">
        {resourceType.replaceAll('_', ' ')}
      </Text>{' '}
      {name}
    </Text>
  )
}

function Details({ entry }: { entry: Entry }) {
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
          {JSON.stringify(entry.metadata, null, 2)}
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
    </>
  )
}
