import { Alert, Select, Text, TextInput } from '@mantine/core'
import { isClient } from '@skerry/contract/grants/readers'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { fetchCached, isFresh } from '../queries.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { granteesQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { slugOf } from '../slug.ts'
import { requireListed } from '../trust/checks.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { branchLists } from './branch-queries.ts'
import { type Grantee, nameOfReader } from './grantees.ts'
import { acceptReaders, branchesShared, environmentShared, noteReaders } from './known-readers.ts'
import { branchesOf, checkMeanings, noteMade } from './meanings.ts'
import { type Checked, checkKeys, remember } from './pins.ts'

const readersText = (others: number, environment: string) =>
  others > 0
    ? `You and ${others} other${others === 1 ? '' : 's'} who hold the key of ${environment} can read it.`
    : 'Nobody else holds the key of its environment, so only you get the key of the branch.'

const day = 86_400
const lifetimes = [
  { value: `${day}`, label: '1 day' },
  { value: `${7 * day}`, label: '7 days' },
  { value: `${30 * day}`, label: '30 days' },
  { value: 'never', label: 'Never' },
]

/** Forks an environment into a branch. Everyone who holds the environment's key can read the branch. */
export function ForkDialog({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('branches', 'create', { slug: '', lifetime: `${7 * day}` }, (values) => ({
    ...values,
    slug: slugOf(values.slug),
  }))
  const nameOf = useNameOf(org.id)
  const typed = form.values.slug
  const becomes = slugOf(typed)
  const query = useQuery({
    queryKey: ['orgs', org.id, 'envs', environment.id, 'grantees', 'checked'],
    queryFn: async () => {
      const { grantees } = await fetchCached(granteesQuery(org.id, environment.id))
      const others = grantees.filter(isClient).filter(({ principalId }) => principalId !== me.user?.id)
      const checked = await checkKeys(others)
      const all = others.map((one, i) => ({ ...one, ...(checked[i] as Checked) }))
      return Object.groupBy(all, ({ status }) => (status === 'changed' ? 'leftOut' : 'readers'))
    },
    staleTime: 0,
  })
  const { readers = [], leftOut = [] } = query.data ?? {}
  const fork = async ({ slug, lifetime }: { slug: string; lifetime: string }) => {
    const named = readers.map((one) => ({ ...one, shownAs: nameOfReader(one, nameOf) }))
    const ttlSeconds = lifetime === 'never' ? null : Number(lifetime)
    const branch = await forkFor(org.id, environment, named, { slug, ttlSeconds })
    showToast(`Forked ${branch.slug} from ${environment.name}.`)
  }
  return (
    <FormDialog
      title={`Fork ${environment.name}`}
      submit="Fork"
      form={form}
      onClose={onClose}
      onSubmit={fork}
      stale={branchLists(org.id, environment)}
      disabled={!isFresh(query)}
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
        {isFresh(query)
          ? readersText(readers.length, environment.name)
          : 'Everyone who holds the key of its environment can read the branch.'}
      </Text>
      {leftOut.length > 0 && (
        <Alert color="red" variant="light" title="Left out">
          The server shows another key than before for{' '}
          {leftOut.map(({ name, principalId }) => name ?? principalId).join(', ')}.
        </Alert>
      )}
    </FormDialog>
  )
}

type Reader = Grantee & Checked & { principalType: 'user' | 'service_token'; shownAs: string }

/** Creates the branch and its key, and wraps the key to the readers. */
async function forkFor(
  orgId: string,
  environment: Environment,
  readers: Reader[],
  settings: { slug: string; ttlSeconds: number | null },
) {
  await checkMeanings([environment.id])
  const recoveryPublicKeyJwk = await acceptedRecoveryKey(orgId)
  const params = { orgId, envId: environment.id }
  const { wrappedDek: parentKey } = await api.grants.own({ params })
  const parent = await environmentShared(environment.id, parentKey)
  await acceptReaders(branchesShared(parent), `the key of a branch of ${environment.name}`, readers, parent)
  await requireListed(orgId, readers)
  remember(readers)
  const publicKeyJwks = readers.map(({ publicKeyJwk }) => publicKeyJwk)
  const branchOf = { parentId: environment.id, parentWrappedDek: parentKey, ...settings }
  const made = await keyring.call('newBranchKey', { publicKeyJwks, recoveryPublicKeyJwk, branch: branchOf })
  const { wrappedDeks, ...own } = made
  const grants = readers.map(({ principalType, principalId }, i) => ({
    principalType,
    principalId,
    wrappedDek: wrappedDeks[i] as string,
  }))
  const { branch } = await api.branches.create({ params, body: { ...settings, ...own, grants } })
  noteMade(orgId, branchesOf(environment.id), branch)
  await noteReaders(await environmentShared(branch.id, own.wrappedDek), readers)
  return branch
}
