import { Alert, Checkbox, Select, type SelectProps, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Fragment } from 'react'
import { branchesQuery } from '../envs/branch-queries.ts'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { isFresh } from '../queries.ts'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { composedQuery } from './composed.ts'
import { createServiceToken, type Made } from './create.ts'
import { type Format, FormatField } from './format-field.tsx'

const lifetimes = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'never', label: 'Never' },
]

const expiryOf = (lifetime: string) =>
  lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString()

interface Values {
  name: string
  environmentId: string | null
  /** Whether the token may read this environment only. */
  bound: boolean
  isAdmin: boolean
  /** The lifetime in days, or `never`. */
  lifetime: string
  format: Format
}

const initialValues: Values = {
  name: '',
  environmentId: null,
  bound: true,
  isAdmin: false,
  lifetime: '90',
  format: 'skerry',
}

export function CreateTokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('tokens', 'create', initialValues)
  const { environmentId, isAdmin } = form.values
  const composed = useQuery({ ...composedQuery(org.id, environmentId ?? ''), enabled: environmentId !== null })
  const layers = environmentId === null ? [] : (composed.data ?? [])
  const branches = useQuery({ ...branchesQuery(org.id, environmentId ?? ''), enabled: environmentId !== null })
  const create = async ({ name, format, bound, lifetime }: Values) => {
    const made = await createServiceToken(org.id, {
      name,
      role: isAdmin ? 'admin' : 'member',
      format,
      environmentIds: environmentId === null ? [] : [environmentId, ...openable(layers)],
      bound: bound && !isAdmin && environmentId !== null,
      expiresAt: expiryOf(lifetime),
    })
    onMade(made)
  }
  return (
    <FormDialog
      title="New service token"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[tokensQuery(org.id)]}
      disabled={environmentId !== null && !isFresh(composed)}
      size="lg"
    >
      <NameField
        description="Name it after its purpose."
        placeholder="web in production"
        {...form.getInputProps('name')}
      />
      <EnvironmentField {...form.getInputProps('environmentId')} />
      <ProblemAlert error={composed.error} retry={() => composed.refetch()} />
      {layers.length > 0 && <ComposedIn layers={layers} />}
      {environmentId !== null && <OlderBranches branches={branches.data?.branches ?? []} />}
      {environmentId !== null && !isAdmin && (
        <Checkbox
          label="For this environment alone"
          description="It never reads another environment, even if it gets more keys later."
          {...form.getInputProps('bound', { type: 'checkbox' })}
        />
      )}
      <Checkbox
        label="It can manage the organization"
        description="Members, applications, tokens and the audit log. Most tokens do not need this."
        {...form.getInputProps('isAdmin', { type: 'checkbox' })}
      />
      <Select label="Expires" data={lifetimes} allowDeselect={false} {...form.getInputProps('lifetime')} />
      <FormatField {...form.getInputProps('format')} />
    </FormDialog>
  )
}

type ComposedLayers = { environmentId: string; label: string; canDecrypt: boolean }[]

const openable = (layers: ComposedLayers) =>
  layers.filter(({ canDecrypt }) => canDecrypt).map((one) => one.environmentId)

function EnvironmentField(props: Omit<SelectProps, 'data'>) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: environments = [] } = useQuery(environmentLabelsQuery(org.id))
  const option = ({ id, label, canDecrypt }: (typeof environments)[number]) => ({
    value: id,
    label: canDecrypt ? label : `${label} (you hold no key)`,
    disabled: !canDecrypt,
  })
  return (
    <Select
      label="Reads"
      description="This browser encrypts the key of the environment for the token."
      placeholder="Nothing yet"
      searchable
      clearable
      nothingFoundMessage="No environment by that name"
      data={[
        { group: 'Applications', items: environments.filter(({ kind }) => kind === 'application').map(option) },
        { group: 'Groups', items: environments.filter(({ kind }) => kind === 'group').map(option) },
      ].filter(({ items }) => items.length > 0)}
      {...props}
    />
  )
}

/** A branch gives its key only to the readers that its environment has when the branch is made. */
function OlderBranches({ branches }: { branches: readonly { id: string; slug: string }[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (branches.length === 0) return null
  return (
    <Alert color="yellow" variant="light" title="The token cannot read branches that exist already">
      Grant it their keys on their pages:{' '}
      {branches.map(({ id, slug }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: id }} size="sm" underline="always">
            {slug}
          </AnchorLink>
        </Fragment>
      ))}
      .
    </Alert>
  )
}

function ComposedIn({ layers }: { layers: ComposedLayers }) {
  const closed = layers.filter(({ canDecrypt }) => !canDecrypt)
  const open = layers.filter(({ canDecrypt }) => canDecrypt)
  const labels = (some: ComposedLayers) => some.map(({ label }) => label).join(', ')
  return (
    <>
      {open.length > 0 && (
        <Text size="xs" c="dimmed">
          With the groups that are composed in: {labels(open)}.
        </Text>
      )}
      {closed.length > 0 && (
        <Alert color="yellow" variant="light" title="You do not hold the keys of all groups that are composed in">
          The token reads nothing until someone also grants it {labels(closed)}.
        </Alert>
      )}
    </>
  )
}
