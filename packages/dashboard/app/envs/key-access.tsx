import { Alert, Button, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { overrideCountQuery } from '../overrides/queries.ts'
import { orgQueries } from '../queries.ts'
import { granteesQuery, sealedQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { TwoLines } from '../ui/cells.tsx'
import { IconEye } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { Grantee } from './grantees.ts'
import { KeyStatus } from './key-status.tsx'
import { forgetReader } from './known-readers.ts'
import { type Checked, useChecked } from './pins.ts'

// This part of the page is loaded when it first opens.
const GrantDialog = lazy(async () => ({ default: (await import('./grant.tsx')).GrantDialog }))

/** Lists who holds the environment's key. */
export function KeyAccess({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(granteesQuery(org.id, environment.id))
  const sealed = useQuery(sealedQuery(org.id, environment.id)).data
  const granting = useDialog()
  const isAdmin = org.role !== 'member'
  return (
    <Section
      title="Key access"
      description="Only holders of the key can read the secrets. No role replaces the key."
      actions={
        isAdmin &&
        sealed && (
          <Button variant="default" onClick={() => granting.open()}>
            Grant access
          </Button>
        )
      }
    >
      <ServerReaders grantees={query.data?.grantees ?? []} isAdmin={isAdmin} />
      <Holders environment={environment} isAdmin={isAdmin} />
      {isAdmin && <OverrideCount environment={environment} />}
      {sealed === null && (
        <Text size="sm" c="dimmed" mt="xs">
          You do not hold the key of this environment, so you cannot grant it. Ask someone in the list above to grant it
          to you.
        </Text>
      )}
      <Suspense>
        {query.data &&
          granting.show((onClose) => (
            <GrantDialog environment={environment} grantees={query.data.grantees} onClose={onClose} />
          ))}
      </Suspense>
    </Section>
  )
}

/** Tells admins how many values people stored for themselves. Only these people can read the names and the values. */
function OverrideCount({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const counts = useQuery(overrideCountQuery(org.id, environment.id)).data?.counts ?? []
  if (counts.length === 0) return null
  const sum = counts.reduce((all, { count }) => all + count, 0)
  const people = counts.map(({ name, userId, count }) => `${name ?? userId} ${count}`).join(', ')
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {sum} personal {sum === 1 ? 'override' : 'overrides'} ({people}). Only their owners can read them.
    </Text>
  )
}

/** Warns that parts of the server hold the key. The list alone would be easy to overlook. */
function ServerReaders({ grantees, isAdmin }: { grantees: Grantee[]; isAdmin: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const readers = grantees.filter(isReader)
  const rotates = readers.some(({ principalType }) => principalType === 'rotator')
  const syncs = readers.filter(({ principalType }) => principalType === 'sync_connection').length
  if (readers.length === 0) return null
  const connections = syncs === 1 ? 'a sync connection' : `${syncs} sync connections`
  const which = [...(rotates ? ['its rotator'] : []), ...(syncs > 0 ? [connections] : [])].join(' and ')
  return (
    <Alert color="yellow" variant="light" mb="sm" icon={<IconEye size={18} />} title="This server can read this too">
      Someone gave the key to {which}.{' '}
      {rotates && isAdmin && (
        <AnchorLink to="/orgs/$org/rotation" params={{ org: org.slug }} size="sm" underline="always">
          What it rotates
        </AnchorLink>
      )}{' '}
      {syncs > 0 && isAdmin && (
        <AnchorLink to="/orgs/$org/sync" params={{ org: org.slug }} size="sm" underline="always">
          What it syncs
        </AnchorLink>
      )}
    </Alert>
  )
}

type Holder = Grantee & { checked: Checked | undefined }
type ReaderGrant = Answer<typeof grants.readers>['readers'][number]

/** For admins: when each holder got the key, and who granted it. */
const readersQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'readers'],
    queryFn: ({ signal }) => api.grants.readers({ params: { orgId, envId } }, { signal }),
  })

const holderKinds: Record<Grantee['principalType'], string> = {
  user: 'member',
  service_token: 'service token',
  ...readerWords,
}

function Holders({ environment, isAdmin }: { environment: Environment; isAdmin: boolean }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const query = useQuery(granteesQuery(org.id, environment.id))
  const checked = useChecked(query.data?.grantees ?? [])
  const told = useQuery({ ...readersQuery(org.id, environment.id), enabled: isAdmin }).data
  const isSelf = ({ principalId }: Grantee) => principalId === me.user?.id
  const name = (one: Grantee) => one.name ?? (isReader(one) ? 'This server' : nameOf(one.principalId))
  const revoking = useConfirm((one: Grantee) => ({
    title: `Take the key from ${name(one)}?`,
    text: <RevokeMeans holder={one} name={name(one)} isSelf={isSelf(one)} />,
    confirm: 'Revoke',
    onConfirm: () => revoke(org.id, environment.id, one.principalId),
    stale: [orgQueries(org.id, 'envs', environment.id)],
  }))
  const columns: ListColumn<Holder>[] = [
    {
      header: 'Holder',
      cell: (one) => <TwoLines main={name(one)} below={isSelf(one) ? 'you' : holderKinds[one.principalType]} />,
      sort: name,
      width: 220,
    },
    {
      header: 'Key',
      cell: (one) => (
        <>
          <Text size="xs" className="mono">
            {one.checked?.words}
          </Text>
          <KeyStatus checked={one.checked} isSelf={isSelf(one)} />
        </>
      ),
    },
  ]
  const since = ({ principalId }: Holder) => told?.readers.find((one) => one.principalId === principalId)
  if (isAdmin)
    columns.push({
      header: 'Since',
      cell: (one) => {
        const grant = since(one)
        if (!grant) return null
        return <Since grant={grant} by={grant.grantedByName ?? nameOf(grant.grantedById)} />
      },
      sort: (one) => since(one)?.since ?? null,
      width: 180,
    })
  return (
    <>
      <List
        label="Holders of the key"
        query={query}
        rows={({ grantees }) => grantees.map((one, i) => ({ ...one, checked: checked?.[i] }))}
        columns={columns}
        minWidth={isAdmin ? 740 : 560}
        rowId={({ principalId }) => principalId}
        rowName={name}
        {...(isAdmin
          ? { action: (one: Holder) => ({ label: 'Revoke', danger: true, onClick: () => revoking.open(one) }) }
          : {})}
        empty={null}
      />
      {told?.recovery && (
        <Text size="sm" c="dimmed" mt="xs">
          Any {told.recovery.threshold} of these custodians can open it together:{' '}
          {told.recovery.custodians.map(({ userId, name: custodian }) => custodian ?? userId).join(', ')}.
        </Text>
      )}
      {revoking.dialog}
    </>
  )
}

function Since({ grant, by }: { grant: ReaderGrant; by: string }) {
  return (
    <TwoLines
      main={<RelativeTime at={grant.since} />}
      below={
        <>
          granted by {by}
          {grant.endsAt && (
            <>
              , ends <RelativeTime at={grant.endsAt} />
            </>
          )}
        </>
      }
      belowTitle={grant.grantId}
    />
  )
}

async function revoke(orgId: string, envId: string, holderId: string): Promise<void> {
  const { grants } = await api.grants.list({ params: { orgId, envId } })
  const grant = grants.find(({ principalId }) => principalId === holderId)
  if (grant) await api.grants.delete({ params: { orgId, envId, grantId: grant.id } }, { typed: { holderId } })
  forgetReader(holderId, envId)
}

function RevokeMeans({ holder, name, isSelf }: { holder: Grantee; name: string; isSelf: boolean }) {
  return (
    <>
      From now on the server gives {name} neither the key nor ciphertext. They may have kept the key and values from
      before: re-key below, and change the values that they must not know.
      {isReader(holder) && ' Rotation or sync that needs this key stops.'}
      {isSelf && ' This is your own access: you cannot grant it to yourself again.'}
    </>
  )
}
