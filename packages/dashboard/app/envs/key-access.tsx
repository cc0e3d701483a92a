import { Button, Table, Text } from '@mantine/core'
import { isReader, readerWords } from '@skerry/contract/readers'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { granteesQuery, sealedQuery } from '../secrets/queries.ts'
import { Sayings } from '../secrets/sayings.tsx'
import type { Environment } from '../secrets/use-columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { GrantDialog } from './grant.tsx'
import { type Grantee, reloadGrants } from './grantees.ts'
import { useChecked } from './pins.ts'
import { Standing } from './standing.tsx'

/** Who holds the environment's key. */
export function KeyAccess({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(granteesQuery(org.id, environment.id))
  const sealed = useQuery(sealedQuery(org.id, environment.id)).data
  const [granting, setGranting] = useState(false)
  const isAdmin = org.role !== 'member'
  return (
    <Section
      title="Key access"
      description="Whoever holds the key can decrypt. Nobody else can, whatever their role."
      actions={
        isAdmin &&
        sealed && (
          <Button variant="default" onClick={() => setGranting(true)}>
            Grant access
          </Button>
        )
      }
    >
      <Sayings />
      <Loaded query={query}>{({ grantees }) => <Holders {...{ environment, grantees, isAdmin }} />}</Loaded>
      {sealed === null && (
        <Text size="sm" c="dimmed" mt="xs">
          You hold no key to this environment, so you can grant none. Someone in the list above can grant it to you.
        </Text>
      )}
      {granting && query.data && (
        <GrantDialog environment={environment} grantees={query.data.grantees} onClose={() => setGranting(false)} />
      )}
    </Section>
  )
}

const holderKinds: Record<Grantee['principalType'], string> = {
  user: 'member',
  service_token: 'service token',
  ...readerWords,
}

function Holders(props: { environment: Environment; grantees: Grantee[]; isAdmin: boolean }) {
  const { environment, grantees, isAdmin } = props
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const checked = useChecked(grantees)
  const [revoking, setRevoking] = useState<Grantee | null>(null)
  const revoke = async () => {
    const params = { orgId: org.id, envId: environment.id }
    const { grants } = await api.grants.list({ params })
    const grant = grants.find(({ principalId }) => principalId === revoking?.principalId)
    if (grant) await api.grants.delete({ params: { ...params, grantId: grant.id } })
    await reloadGrants(org.id, environment.id)
  }
  const name = (one: Grantee) => one.name ?? (isReader(one) ? 'This server' : nameOf(one.principalId))
  return (
    <div className="rows">
      <Table miw={560}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Holder</Table.Th>
            <Table.Th>Key</Table.Th>
            {isAdmin && <Table.Th aria-label="Actions" w={90} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {grantees.map((one, i) => (
            <Table.Tr key={one.principalId}>
              <Table.Td maw={220}>
                <Text size="sm" fw={500} truncate title={name(one)}>
                  {name(one)}
                </Text>
                <Text size="xs" c="dimmed">
                  {one.principalId === me.user?.id ? 'you' : holderKinds[one.principalType]}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="xs" className="mono">
                  {checked?.[i]?.words}
                </Text>
                <Standing checked={checked?.[i]} isSelf={one.principalId === me.user?.id} />
              </Table.Td>
              {isAdmin && (
                <Table.Td ta="right">
                  <Button variant="subtle" color="red" size="xs" onClick={() => setRevoking(one)}>
                    Revoke
                  </Button>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {revoking && (
        <ConfirmDelete
          title={`Take the key from ${name(revoking)}?`}
          confirm="Revoke"
          opened
          onClose={() => setRevoking(null)}
          onConfirm={revoke}
        >
          From now on the server gives {name(revoking)} neither the key nor ciphertext. It does not undo what was read
          or kept before: re-key below, and change the values that they must not know.
          {revoking.principalId === me.user?.id && ' This is your own access: you cannot grant it to yourself again.'}
        </ConfirmDelete>
      )}
    </div>
  )
}
