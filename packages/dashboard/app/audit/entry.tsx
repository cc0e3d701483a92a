import { Code, Table } from '@mantine/core'
import { type NameOf, tellEntry } from '@skerry/contract/audit/sentence'
import { vendorName } from '@skerry/contract/vendors'
import { useRouteContext } from '@tanstack/react-router'
import { OneLine } from '../ui/cells.tsx'
import { EnvName } from '../ui/env-name.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { isAlarming } from './labels.ts'
import type { Entry, EntryEnvironment } from './queries.ts'

/** Tells the entry in a sentence. An alarming entry is red. */
export function Sentence({ entry, nameOf }: { entry: Entry; nameOf: NameOf }) {
  const told = tellEntry(entry, nameOf)
  return (
    <div className="audit-sentence" data-alarming={isAlarming(entry.action) || undefined} title={told}>
      {told}
    </div>
  )
}

/** Returns the environment that an entry is about, or in which something happened. */
export const placeOf = ({ resourceId, metadata }: Entry, environments: Record<string, EntryEnvironment>) =>
  environments[String(metadata.environmentId)] ?? environments[String(resourceId)]

/** The application or the group of an environment. */
export function Owner({ place }: { place: EntryEnvironment | undefined }) {
  return place ? <OneLine text={place.owner.name} /> : null
}

/** The environment, or the branch behind its environment. */
export function Environment({ place }: { place: EntryEnvironment | undefined }) {
  if (!place) return null
  const { name, slug, parent } = place
  return <EnvName name={parent ? `${parent.name} @ ${name}` : name} slug={parent ? 'branch' : slug} />
}

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
    ['Resource', entry.resourceId],
    ['IP address', entry.ipAddress],
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
          All entries about this resource
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
          All entries of this request
        </AnchorLink>
      )}
    </>
  )
}
