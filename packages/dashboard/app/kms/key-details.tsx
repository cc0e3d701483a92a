import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { forgetReader } from '../envs/known-readers.ts'
import { orgQueries } from '../queries.ts'
import { membersQuery, useNameOf } from '../secrets/use-name-of.ts'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { PublicKey } from './public-key.tsx'
import { type KeyHolder, type KeyVersion, keyHoldersQuery, type ManagedKey, managedKeyQuery } from './queries.ts'

/** Lists who may use a key, and which versions of it. */
export function Holders({ managed, actions }: { managed: ManagedKey; actions: React.ReactNode }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const query = useQuery(keyHoldersQuery(org.id, managed.id))
  const name = ({ principalId }: KeyHolder) => nameOf(principalId)
  const members = useQuery(membersQuery(org.id)).data?.members
  const revoke = async (one: KeyHolder) => {
    const { principalType, principalId } = one
    const query = { principalType: principalType as 'user', principalId }
    const isPerson = principalType === 'user'
    const holder = isPerson ? members?.find(({ userId }) => userId === principalId)?.email : name(one)
    const typed = { managedKey: managed.name, ...(holder && holder !== principalId ? { holder } : {}) }
    await api.kms.revoke({ params: { orgId: org.id, kmsKeyId: managed.id }, query }, { typed })
    forgetReader(principalId, managed.id)
  }
  const revoking = useConfirm((one: KeyHolder) => ({
    title: `Take the key from ${name(one)}?`,
    text: `The server no longer gives this key to ${name(one)}. They may have kept a copy: rotate the key afterwards.`,
    confirm: 'Revoke',
    onConfirm: () => revoke(one),
    stale: [orgQueries(org.id, 'kms')],
  }))
  const columns: ListColumn<KeyHolder>[] = [
    {
      header: 'Holder',
      cell: (one) => (
        <TwoLines main={name(one)} below={one.principalId === me.user?.id ? 'you' : kinds[one.principalType]} />
      ),
      sort: name,
    },
    { header: 'Versions', cell: ({ versions }) => versions.join(', '), width: 160 },
  ]
  return (
    <Section
      title="Holders"
      description="Only holders can use the key, and only the versions that they hold."
      actions={actions}
    >
      <List
        label="Holders of the key"
        query={query}
        rows={({ grants }) => grants}
        columns={columns}
        rowId={({ principalId }) => principalId}
        rowName={name}
        action={(one) => ({ label: 'Revoke', danger: true, onClick: () => revoking.open(one) })}
        empty={<Empty title="Nobody holds this key">Nobody can decrypt the data that it encrypted.</Empty>}
      />
      {revoking.dialog}
    </Section>
  )
}

const kinds: Record<string, string> = { user: 'member', service_token: 'service token' }

/** Lists all versions. Versions of a signing key show the public key for verification. */
export function Versions({ managed }: { managed: ManagedKey }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(managedKeyQuery(org.id, managed.id))
  const isSigning = managed.purpose === 'sign'
  const columns: ListColumn<KeyVersion>[] = [
    {
      header: 'Version',
      cell: ({ version }) => (
        <TwoLines
          main={`Version ${version}`}
          below={version === managed.currentVersion ? 'current' : 'for older data'}
        />
      ),
      sort: ({ version }) => version,
    },
    timeColumn('Made', 'createdAt'),
  ]
  return (
    <Section
      title="Versions"
      description={
        isSigning
          ? 'Each version has a public key. With it, anyone can verify what the version signed.'
          : 'The current version encrypts new data. Earlier versions decrypt older data.'
      }
    >
      <List
        label="Versions of the key"
        query={query}
        rows={({ versions }) => versions.toReversed()}
        columns={columns}
        rowId={({ version }) => String(version)}
        rowName={({ version }) => `version ${version}`}
        {...(isSigning ? { details: (one: KeyVersion) => <Details version={one} /> } : {})}
        empty={null}
      />
    </Section>
  )
}

function Details({ version: { publicKeyJwk } }: { version: KeyVersion }) {
  if (publicKeyJwk === null) return <Text size="sm">This version has no public key.</Text>
  return (
    <Stack>
      <PublicKey publicKeyJwk={publicKeyJwk} />
    </Stack>
  )
}
