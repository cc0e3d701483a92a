import { Alert, Checkbox, Select, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { placesQuery } from '../people/places.ts'
import { isCertain, outdated } from '../queries.ts'
import { tokensQuery } from '../secrets/use-name-of.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
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

export function CreateTokenDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [name, setName] = useState('')
  const [isAdmin, setIsAdmin] = useState(false)
  const [environmentId, setEnvironmentId] = useState<string | null>(null)
  const [bound, setBound] = useState(true)
  const [lifetime, setLifetime] = useState('90')
  const [format, setFormat] = useState<Format>('skerry')
  const composed = useQuery({ ...composedQuery(org.id, environmentId ?? ''), enabled: environmentId !== null })
  const below = environmentId === null ? [] : (composed.data ?? [])
  const create = async () => {
    const made = await createServiceToken(org.id, {
      name: name.trim(),
      role: isAdmin ? 'admin' : 'member',
      format,
      environmentIds: environmentId === null ? [] : [environmentId, ...openable(below)],
      bound: bound && !isAdmin && environmentId !== null,
      expiresAt: expiryOf(lifetime),
    })
    onMade(made)
    await outdated(tokensQuery(org.id))
  }
  return (
    <FormDialog
      title="New service token"
      submit="Create"
      opened
      onClose={onClose}
      onSubmit={create}
      disabled={name.trim() === '' || (environmentId !== null && !isCertain(composed))}
      size="lg"
    >
      <TextInput
        label="Name"
        description="What it is for."
        placeholder="web in production"
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <EnvironmentField environmentId={environmentId} onChange={setEnvironmentId} />
      <ProblemAlert error={composed.error} retry={() => composed.refetch()} />
      {below.length > 0 && <ComposedIn below={below} />}
      {environmentId !== null && !isAdmin && (
        <Checkbox
          label="For this environment alone"
          description="Whatever keys it is granted later, it reads no other."
          checked={bound}
          onChange={(event) => setBound(event.currentTarget.checked)}
        />
      )}
      <Checkbox
        label="It administers the organization"
        description="Members, applications, tokens and the audit log. Most tokens need none of it."
        checked={isAdmin}
        onChange={(event) => setIsAdmin(event.currentTarget.checked)}
      />
      <Select
        label="Expires"
        data={lifetimes}
        allowDeselect={false}
        value={lifetime}
        onChange={(value) => setLifetime(value ?? '90')}
      />
      <FormatField format={format} onChange={setFormat} />
    </FormDialog>
  )
}

type Below = { environmentId: string; label: string; canDecrypt: boolean }[]

const openable = (below: Below) => below.filter(({ canDecrypt }) => canDecrypt).map((one) => one.environmentId)

function EnvironmentField(props: { environmentId: string | null; onChange: (id: string | null) => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: places = [] } = useQuery(placesQuery(org.id))
  const option = ({ id, label, canDecrypt }: (typeof places)[number]) => ({
    value: id,
    label: canDecrypt ? label : `${label} (you hold no key)`,
    disabled: !canDecrypt,
  })
  return (
    <Select
      label="Reads"
      description="Its key is wrapped to the token in this browser."
      placeholder="Nothing yet"
      searchable
      clearable
      nothingFoundMessage="No environment by that name"
      data={[
        { group: 'Applications', items: places.filter(({ kind }) => kind === 'application').map(option) },
        { group: 'Groups', items: places.filter(({ kind }) => kind === 'group').map(option) },
      ].filter(({ items }) => items.length > 0)}
      value={props.environmentId}
      onChange={props.onChange}
    />
  )
}

function ComposedIn({ below }: { below: Below }) {
  const closed = below.filter(({ canDecrypt }) => !canDecrypt)
  const open = below.filter(({ canDecrypt }) => canDecrypt)
  const labels = (some: Below) => some.map(({ label }) => label).join(', ')
  return (
    <>
      {open.length > 0 && (
        <Text size="xs" c="dimmed">
          With what is composed in: {labels(open)}.
        </Text>
      )}
      {closed.length > 0 && (
        <Alert color="yellow" variant="light" title="You hold no key to all that is composed in">
          The token reads nothing until someone also grants it {labels(closed)}.
        </Alert>
      )}
    </>
  )
}
