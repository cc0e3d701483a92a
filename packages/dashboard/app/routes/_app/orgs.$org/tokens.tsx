import { ActionIcon, Badge, Code, Menu, SegmentedControl, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { beginning } from '../../../begin.ts'
import { type Ended, RekeyHint } from '../../../people/holdings.tsx'
import { placesQuery } from '../../../people/places.ts'
import { tokensQuery } from '../../../secrets/use-name-of.ts'
import type { Made } from '../../../tokens/create.ts'
import type { Asking, Token } from '../../../tokens/token-dialogs.tsx'
import { TokensPage } from '../../../tokens/tokens-page.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { IconEllipsis } from '../../../ui/icons.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'

// Loaded when first asked for.
const CreateTokenDialog = lazy(async () => ({
  default: (await import('../../../tokens/create-dialog.tsx')).CreateTokenDialog,
}))
const TokenDialog = lazy(async () => ({ default: (await import('../../../tokens/token-dialogs.tsx')).TokenDialog }))

export const Route = createFileRoute('/_app/orgs/$org/tokens')({
  validateSearch: beginning,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(tokensQuery(org.id))
  },
  component: Tokens,
})

function Tokens() {
  return (
    <TokensPage<Made>
      title="Service tokens"
      description="With which programs read secrets. Each has a key of its own, made where the token is made."
      newLabel="New token"
      CreateDialog={CreateTokenDialog}
      shownOnce={(made) => ({
        title: 'The new token',
        token: made?.token ?? null,
        children: (
          <>
            Give it to a program as <Code>SKERRY_TOKEN</Code>, as in <Code>skerry run -- npm start</Code>.
          </>
        ),
        problem: made?.problem ? <NotAllGranted problem={made.problem} /> : null,
      })}
    >
      <List />
    </TokensPage>
  )
}

const NotAllGranted = ({ problem }: { problem: unknown }) => (
  <>
    <ProblemAlert error={problem} />
    <Text size="sm">The token exists, but not every key was granted to it: grant it on the environment’s page.</Text>
  </>
)

function List() {
  const { org } = Route.useRouteContext()
  const query = useQuery(tokensQuery(org.id))
  const [show, setShow] = useState('active')
  const [asking, setAsking] = useState<Asking | null>(null)
  const [ended, setEnded] = useState<Ended | null>(null)
  return (
    <>
      <RekeyHint ended={ended} onClose={() => setEnded(null)} />
      <Loaded query={query}>
        {({ tokens }) => {
          if (tokens.length === 0)
            return (
              <Empty
                title="No service token yet"
                command={`skerry token create --name web --app my-app --env production --org ${org.slug}`}
              >
                Make one for each program and place, so that one can be revoked without the others.
              </Empty>
            )
          const shown = tokens.filter((token) => show === 'all' || stateOf(token) === 'active')
          return (
            <>
              <SegmentedControl
                mb="sm"
                size="xs"
                aria-label="Show"
                data={[
                  { value: 'active', label: 'In use' },
                  { value: 'all', label: 'All' },
                ]}
                value={show}
                onChange={setShow}
              />
              {shown.length === 0 ? (
                <Empty title="None is in use">All tokens have been revoked or have expired.</Empty>
              ) : (
                <Rows tokens={shown} onAsk={setAsking} />
              )}
            </>
          )
        }}
      </Loaded>
      <Suspense>
        {asking && <TokenDialog asking={asking} onClose={() => setAsking(null)} onEnded={setEnded} />}
      </Suspense>
    </>
  )
}

function stateOf({ revokedAt, expiresAt }: Token): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

function Rows({ tokens, onAsk }: { tokens: Token[]; onAsk: (asking: Asking) => void }) {
  return (
    <div className="rows">
      <Table layout="fixed" miw={820}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="32%">Token</Table.Th>
            <Table.Th w={90}>Role</Table.Th>
            <Table.Th>Bound to</Table.Th>
            <Table.Th w={130}>Last used</Table.Th>
            <Table.Th w={130}>Expires</Table.Th>
            <Table.Th w={64} aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tokens.map((token) => (
            <Row key={token.id} token={token} onAsk={(kind) => onAsk({ kind, token })} />
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function Row({ token, onAsk }: { token: Token; onAsk: (kind: Asking['kind']) => void }) {
  const { org } = Route.useRouteContext()
  const { data: places } = useQuery(placesQuery(org.id))
  const place = places?.find(({ id }) => id === token.environmentId)?.label ?? token.environmentId
  const state = stateOf(token)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} truncate title={token.name}>
          {token.name}
        </Text>
        <Text size="xs" c="dimmed" className="mono" truncate title={token.id}>
          {token.id}
        </Text>
      </Table.Td>
      <Table.Td>{token.role}</Table.Td>
      <Table.Td>
        <Text size="sm" truncate title={place ?? ''} c={place === null ? 'dimmed' : ''}>
          {place ?? 'none'}
        </Text>
      </Table.Td>
      <Table.Td>
        <RelativeTime at={token.lastUsedAt} />
      </Table.Td>
      <Table.Td>
        {state === 'active' ? (
          <RelativeTime at={token.expiresAt} />
        ) : (
          <Badge color="gray" variant="light">
            {state}
          </Badge>
        )}
      </Table.Td>
      <Table.Td ta="right">
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`What can be done with ${token.name}`}>
              <IconEllipsis size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onAsk('rename')}>Rename…</Menu.Item>
            {state === 'revoked' ? (
              <Menu.Item color="red" onClick={() => onAsk('delete')}>
                Delete permanently…
              </Menu.Item>
            ) : (
              <Menu.Item color="red" onClick={() => onAsk('revoke')}>
                Revoke…
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  )
}
