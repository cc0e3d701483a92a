import { Badge, Group, NativeSelect, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { limits } from '@skerry/contract/limits'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { type Connection, type ConnectionFilter, connectionsQuery, type Project } from './queries.ts'

// Loaded when someone filters the connections by one person.
const ErasePerson = lazy(async () => ({ default: (await import('./erase-person.tsx')).ErasePerson }))

type Status = Connection['status']

const typingMs = 300

/** Lists the accounts that people have connected, the oldest first. */
export function Connections({ project, hasExecutor }: { project: Project; hasExecutor: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [text, setText] = useState('')
  const [status, setStatus] = useState<Status | ''>('')
  const [userRef] = useDebouncedValue(text.trim(), typingMs)
  const filter: ConnectionFilter = { ...(userRef && { userRef }), ...(status && { status }) }
  const query = useInfiniteQuery(connectionsQuery(org.id, project.id, filter))
  const revoking = useConfirm((one: Connection) => ({
    title: `Revoke ${nameOf(one)}?`,
    text: `Its credentials are deleted for good. ${one.userRef} has to connect the account again. At the provider they stay valid until they are revoked there.`,
    confirm: 'Revoke',
    onConfirm: () => {
      const params = { orgId: org.id, projectId: project.id, vaultConnectionId: one.id }
      return api.vaultProjects.revokeConnection({ params })
    },
    stale: [orgQueries(org.id, 'vault')],
  }))
  return (
    <Section title="Connections" description="The accounts that people have connected.">
      <Group gap="xs" mb="sm">
        <TextInput
          label="Person"
          description="The complete ID of the person in your product."
          maxLength={limits.vaultUserRefCharacters}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <NativeSelect
          label="State"
          description="The current state."
          data={[
            { value: '', label: 'Any' },
            ...Object.entries(states).map(([value, { says }]) => ({ value, label: says })),
          ]}
          value={status}
          onChange={(event) => setStatus(event.currentTarget.value as Status | '')}
        />
      </Group>
      <Suspense>{userRef && <ErasePerson key={userRef} project={project} userRef={userRef} />}</Suspense>
      <List
        label="Connections"
        query={query}
        rows={({ pages }) => pages.flatMap(({ connections }) => connections)}
        columns={columns}
        minWidth={760}
        rowId={({ id }) => id}
        rowName={nameOf}
        action={(one) =>
          one.status === 'revoked' ? null : { label: 'Revoke', danger: true, onClick: () => revoking.open(one) }
        }
        empty={
          Object.keys(filter).length > 0 ? (
            <Empty title="No matching connection" />
          ) : (
            <Empty title="Nobody has connected an account yet">
              {hasExecutor
                ? 'Your backend makes the links for it.'
                : 'Your backend can make no link, because no executor is registered.'}
            </Empty>
          )
        }
      />
      {revoking.dialog}
    </Section>
  )
}

const nameOf = ({ providerName, userRef }: Connection) => `${providerName} of ${userRef}`

const states: Record<Status, { color: string; says: string }> = {
  active: { color: 'sea', says: 'connected' },
  reauth_required: { color: 'yellow', says: 'needs repair' },
  revoked: { color: 'gray', says: 'revoked' },
}

const revokers: Record<NonNullable<Connection['revokedBy']>, string> = {
  platform: 'the product',
  end_user: 'the person',
  org_admin: 'an admin',
  system: 'the server',
}

/** No column can be sorted, because the server sends the list in pages. */
const columns: ListColumn<Connection>[] = [
  {
    header: 'Person',
    cell: ({ userRef, id }) => <TwoLines main={userRef} below={<span className="mono">{id}</span>} belowTitle={id} />,
    width: '34%',
  },
  {
    header: 'Account',
    cell: ({ providerName, accountLabel, providerId }) => (
      <TwoLines main={providerName} below={accountLabel ?? <span className="mono">{providerId}</span>} />
    ),
  },
  { header: 'Last used', cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} />, width: 120 },
  { header: 'Connected', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 120 },
  { header: 'State', cell: (connection) => <State connection={connection} />, width: 170 },
]

function State({ connection: { status, statusReason, revokedBy, revokedAt } }: { connection: Connection }) {
  const { color, says } = states[status]
  return (
    <>
      <Badge color={color} variant="light">
        {says}
      </Badge>
      <Text size="xs" c="dimmed" component="div">
        {statusReason?.replaceAll('_', ' ')}
        {revokedBy && (
          <>
            by {revokers[revokedBy]}, <RelativeTime at={revokedAt} />
          </>
        )}
      </Text>
    </>
  )
}
