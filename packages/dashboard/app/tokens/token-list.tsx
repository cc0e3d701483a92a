import { Badge, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { GrantAccessDialog } from '../granting/lazy.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { RekeyNotice } from '../people/rekey-notice.tsx'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { RelativeTime, timeColumn } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { OpenDialog, Token } from './token-dialogs.tsx'

// This dialog is loaded when it first opens.
const TokenDialog = lazy(async () => ({ default: (await import('./token-dialogs.tsx')).TokenDialog }))

/** The service tokens of an organization, for admins. */
export function TokenList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(tokensQuery(org.id))
  const { data: environments } = useQuery(environmentLabelsQuery(org.id))
  const [show, setShow] = useState('active')
  const dialog = useDialog<OpenDialog>()
  const granting = useDialog<Token>()
  const placeOf = ({ environmentId }: Token) =>
    environments?.find(({ id }) => id === environmentId)?.label ?? environmentId ?? null
  const actions = (token: Token): RowAction[] => {
    const open = (kind: OpenDialog['kind']) => () => dialog.open({ kind, token })
    return [
      ...(stateOf(token) === 'active' ? [{ label: 'Grant access…', onClick: () => granting.open(token) }] : []),
      { label: 'Rename…', onClick: open('rename') },
      stateOf(token) === 'revoked'
        ? { label: 'Delete permanently…', danger: true, onClick: open('delete') }
        : { label: 'Revoke…', danger: true, onClick: open('revoke') },
    ]
  }
  const hasTokens = (query.data?.tokens.length ?? 0) > 0
  return (
    <>
      <RekeyNotice />
      {hasTokens && <Show value={show} onChange={setShow} />}
      <List
        label="Service tokens"
        query={query}
        rows={({ tokens }) => tokens.filter((token) => show === 'all' || stateOf(token) === 'active')}
        columns={columnsOf(placeOf)}
        minWidth={860}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        actions={actions}
        empty={
          hasTokens ? (
            <Empty title="None is in use">All tokens have been revoked or have expired.</Empty>
          ) : (
            <Empty
              title="No service token yet"
              command={`skerry token create web --app my-app --env production --org ${org.slug}`}
            >
              Create one for each program and place, so that you can revoke one without the others.
            </Empty>
          )
        }
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <TokenDialog dialog={opened} onClose={onClose} />
        ))}
        {granting.show((onClose, { id }) => (
          <GrantAccessDialog first={[{ kind: 'token', id }]} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

function Show({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const data = [
    { value: 'active', label: 'In use' },
    { value: 'all', label: 'All' },
  ]
  return <SegmentedControl mb="sm" size="xs" aria-label="Show" data={data} value={value} onChange={onChange} />
}

function stateOf({ revokedAt, expiresAt }: Token): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

const columnsOf = (placeOf: (token: Token) => string | null): ListColumn<Token>[] => [
  {
    header: 'Token',
    cell: ({ name, id }) => <TwoLines main={name} below={<span className="mono">{id}</span>} belowTitle={id} />,
    sort: ({ name }) => name,
    width: '32%',
  },
  { header: 'Role', cell: ({ role }) => role, sort: ({ role }) => role, width: 100 },
  {
    header: 'Bound to',
    cell: (token) => <OneLine text={placeOf(token) ?? 'none'} dimmed={token.environmentId === null} />,
    sort: placeOf,
  },
  timeColumn('Last used', 'lastUsedAt', 130),
  { header: 'Expires', cell: (token) => <Expiry token={token} />, sort: ({ expiresAt }) => expiresAt, width: 130 },
]

function Expiry({ token }: { token: Token }) {
  const state = stateOf(token)
  if (state === 'active') return <RelativeTime at={token.expiresAt} />
  return (
    <Badge color="gray" variant="light">
      {state}
    </Badge>
  )
}
