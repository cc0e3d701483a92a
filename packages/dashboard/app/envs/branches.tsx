import { Alert, Button, Select, Text, TextInput } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { isCertain, outdated, queryClient } from '../queries.ts'
import { granteesQuery } from '../secrets/queries.ts'
import { say } from '../secrets/say.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { slugOf } from '../slug.ts'
import { TwoLines } from '../ui/cells.tsx'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { type Checked, checkKeys, remember } from './pins.ts'

const branchesQuery = (orgId: string, envId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'envs', envId, 'branches'],
    queryFn: ({ signal }) => api.branches.list({ params: { orgId, envId } }, { signal }),
  })

async function reload(orgId: string, { id, applicationId }: Environment) {
  await Promise.all([
    outdated(branchesQuery(orgId, id)),
    outdated({ queryKey: ['orgs', orgId, 'apps', applicationId, 'branches'] }),
  ])
}

/** Short-lived copies of an environment that hold only what differs. */
export function Branches({ environment, holdsKey }: { environment: Environment; holdsKey: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(branchesQuery(org.id, environment.id))
  const [forking, setForking] = useState(false)
  const [ending, setEnding] = useState<Environment | null>(null)
  const mayDelete = holdsKey || org.role !== 'member'
  const deleteAction = (branch: Environment) => ({
    label: 'Delete',
    danger: true,
    onClick: () => setEnding(branch),
  })
  const forkButton = holdsKey && (
    <Button variant="default" onClick={() => setForking(true)}>
      Fork a branch
    </Button>
  )
  return (
    <Section
      title="Branches"
      description="A branch holds only what differs, for a pull request for example. It ends by itself."
      actions={query.data?.branches.length ? forkButton : null}
    >
      <List
        label="Branches"
        query={query}
        rows={({ branches }) => branches}
        columns={columnsOf(org.slug)}
        minWidth={600}
        rowId={({ id }) => id}
        rowName={({ slug }) => slug}
        {...(mayDelete ? { action: deleteAction } : {})}
        empty={
          <Empty
            title="No branch"
            action={forkButton}
            command={holdsKey && `skerry branch create pr-1 --from ${environment.slug}`}
          />
        }
      />
      {forking && <ForkDialog environment={environment} onClose={() => setForking(false)} />}
      {ending && (
        <ConfirmDelete
          title={`Delete ${ending.slug}?`}
          confirm="Delete"
          opened
          onClose={() => setEnding(null)}
          onConfirm={async () => {
            await api.envs.delete({ params: { orgId: org.id, envId: ending.id } })
            await reload(org.id, environment)
          }}
        >
          The values that it overrides and their history are deleted. {environment.name} stays as it is.
        </ConfirmDelete>
      )}
    </Section>
  )
}

const columnsOf = (org: string): ListColumn<Environment>[] => [
  {
    header: 'Branch',
    cell: ({ id, name, slug }) => (
      <TwoLines
        main={
          <AnchorLink to="/orgs/$org/envs/$env" params={{ org, env: id }} size="sm" fw={500}>
            {name}
          </AnchorLink>
        }
        title={name}
        below={<span className="mono">{slug}</span>}
        belowTitle={slug}
      />
    ),
    sort: ({ name }) => name,
  },
  {
    header: 'Forked',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    sort: ({ createdAt }) => createdAt,
    width: 140,
  },
  {
    header: 'Expires',
    cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />,
    sort: ({ expiresAt }) => expiresAt,
    width: 140,
  },
]

const sayReaders = (others: number, environment: string) =>
  others > 0
    ? `You and ${others} other${others === 1 ? '' : 's'} who hold the key of ${environment} can read it.`
    : 'Only you can read it: nobody else holds the key of its environment.'

const day = 86_400
const lifetimes = [
  { value: `${day}`, label: '1 day' },
  { value: `${7 * day}`, label: '7 days' },
  { value: `${30 * day}`, label: '30 days' },
  { value: 'never', label: 'Never' },
]

function ForkDialog({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('branches', 'create', { slug: '', lifetime: `${7 * day}` }, (values) => ({
    ...values,
    slug: slugOf(values.slug),
  }))
  const typed = form.values.slug
  const becomes = slugOf(typed)
  const query = useQuery({
    queryKey: ['orgs', org.id, 'envs', environment.id, 'grantees', 'checked'],
    queryFn: async () => {
      const { grantees } = await queryClient.fetchQuery(granteesQuery(org.id, environment.id))
      const others = grantees.filter(({ principalId }) => principalId !== me.user?.id)
      const checked = await checkKeys(others)
      const all = others.map((one, i) => ({ ...one, ...(checked[i] as Checked) }))
      return Object.groupBy(all, ({ standing }) => (standing === 'changed' ? 'left' : 'readers'))
    },
    staleTime: 0,
  })
  const { readers = [], left = [] } = query.data ?? {}
  const fork = async ({ slug, lifetime }: { slug: string; lifetime: string }) => {
    remember(readers)
    const publicKeyJwks = readers.map(({ publicKeyJwk }) => publicKeyJwk)
    const { wrappedDek, wrappedDeks } = await keyring.call('newBranchKey', { publicKeyJwks })
    const grants = readers.map(({ principalType, principalId }, i) => ({
      principalType,
      principalId,
      wrappedDek: wrappedDeks[i] as string,
    }))
    const ttlSeconds = lifetime === 'never' ? null : Number(lifetime)
    const params = { orgId: org.id, envId: environment.id }
    const { branch } = await api.branches.create({
      params,
      body: { slug, ttlSeconds, wrappedDek, grants },
    })
    await reload(org.id, environment)
    say(`Forked ${branch.slug} from ${environment.name}.`)
  }
  return (
    <FormDialog
      title={`Fork ${environment.name}`}
      submit="Fork"
      form={form}
      opened
      onClose={onClose}
      onSubmit={fork}
      disabled={!isCertain(query)}
    >
      <TextInput
        label="Slug"
        placeholder="pr-7"
        description={typed === becomes ? 'Commands name it with --branch.' : `Becomes ${becomes}`}
        classNames={{ input: 'mono' }}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('slug')}
      />
      <Select label="Ends after" data={lifetimes} allowDeselect={false} {...form.getInputProps('lifetime')} />
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Text size="sm" c="dimmed">
        {isCertain(query)
          ? sayReaders(readers.length, environment.name)
          : 'It can be read by whoever holds the key of its environment.'}
      </Text>
      {left.length > 0 && (
        <Alert color="red" variant="light" title="Left out">
          The server shows another key than before for{' '}
          {left.map(({ name, principalId }) => name ?? principalId).join(', ')}.
        </Alert>
      )}
    </FormDialog>
  )
}
