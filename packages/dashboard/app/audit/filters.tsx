import { Button, Group, Select, TextInput } from '@mantine/core'
import { auditActions } from '@skerry/contract/actions'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { appsQuery } from '../secrets/queries.ts'
import { membersQuery, tokensQuery } from '../secrets/use-name-of.ts'
import { Form } from '../ui/form.tsx'
import { resourceTypes } from './known-names.ts'
import { type AuditFilter, filterOf } from './queries.ts'

const actions = Object.entries(auditActions).map(([value, { label }]) => ({ value, label }))
const types = resourceTypes.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

/** The filters of the audit log. */
export function Filters({ filter, onChange }: { filter: AuditFilter; onChange: (filter: AuditFilter) => void }) {
  const actors = useActors(filter.actorId)
  const { apps, environments } = usePlaces()
  const set = (change: Record<string, string | null>) => onChange(filterOf({ ...filter, ...change }))
  const choice = { searchable: true, clearable: true, nothingFoundMessage: 'None by that name' } as const
  return (
    <Group className="audit-filters" mb="md" gap="sm" align="flex-end">
      <Select
        {...choice}
        label="What happened"
        placeholder="Anything"
        w={210}
        data={actions}
        value={filter.action ?? null}
        onChange={(action) => set({ action })}
      />
      <Select
        {...choice}
        label="Person or token"
        placeholder="Anyone"
        w={210}
        data={actors}
        value={filter.actorId ?? null}
        onChange={(actorId) => set({ actorId })}
      />
      <Select
        {...choice}
        label="Application"
        placeholder="Any"
        w={170}
        data={apps}
        value={filter.applicationId ?? null}
        onChange={(applicationId) => set({ applicationId })}
      />
      <Select
        {...choice}
        label="Environment"
        placeholder="Any"
        w={210}
        data={environments}
        value={filter.environmentId ?? null}
        onChange={(environmentId) => set({ environmentId })}
      />
      <Select
        {...choice}
        label="Resource"
        placeholder="Anything"
        w={170}
        data={types}
        value={filter.resourceType ?? null}
        onChange={(resourceType) => set({ resourceType })}
      />
      <ResourceField
        key={filter.resourceId}
        id={filter.resourceId ?? ''}
        onChange={(resourceId) => set({ resourceId })}
      />
      <NameField key={`text ${filter.text}`} text={filter.text ?? ''} onChange={(text) => set({ text })} />
      <DayField
        label="From"
        day={filter.since === undefined ? '' : dayOf(filter.since)}
        onChange={(day) => set({ since: day && startOf(day) })}
      />
      <DayField
        label="Through"
        day={filter.until === undefined ? '' : dayOf(filter.until, -1)}
        onChange={(day) => set({ until: day && startOf(day, 1) })}
      />
      {Object.keys(filter).length > 0 && (
        <Button variant="subtle" color="gray" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </Group>
  )
}

/** A day in the person's own time zone. */
function DayField({ label, day, onChange }: { label: string; day: string; onChange: (day: string | null) => void }) {
  return (
    <TextInput
      w={140}
      type="date"
      label={label}
      value={day}
      onChange={(event) => onChange(event.currentTarget.value || null)}
    />
  )
}

function startOf(day: string, daysLater = 0): string | null {
  const start = new Date(`${day}T00:00`)
  start.setDate(start.getDate() + daysLater)
  return Number.isNaN(start.getTime()) ? null : start.toISOString()
}

function dayOf(instant: string, daysLater = 0): string {
  const at = new Date(instant)
  at.setDate(at.getDate() + daysLater)
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}

function ResourceField({ id, onChange }: { id: string; onChange: (id: string) => void }) {
  const [text, setText] = useState(id)
  const wrong = text.trim() !== '' && filterOf({ resourceId: text.trim() }).resourceId === undefined
  return (
    <Form
      onSubmit={() => {
        if (!wrong) onChange(text.trim())
      }}
    >
      <TextInput
        w={210}
        label="ID"
        placeholder="env_…"
        classNames={{ input: 'mono' }}
        error={wrong}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => !wrong && text.trim() !== id && onChange(text.trim())}
        autoComplete="off"
      />
    </Form>
  )
}

/** Searches the names of actors and resources. */
function NameField({ text: given, onChange }: { text: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(given)
  return (
    <Form onSubmit={() => onChange(text.trim())}>
      <TextInput
        w={170}
        label="Name contains"
        placeholder="payments"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => text.trim() !== given && onChange(text.trim())}
        autoComplete="off"
      />
    </Form>
  )
}

/** Lists applications, and environments with branches. */
function usePlaces() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const apps = useQuery(appsQuery(org.id)).data?.apps ?? []
  const places = useQuery(environmentLabelsQuery(org.id)).data ?? []
  return {
    apps: apps.map(({ id, name }) => ({ value: id, label: name })),
    environments: places.map(({ id, label }) => ({ value: id, label })),
  }
}

/** Lists members and tokens as actors. If the actor in the address no longer exists, it is listed by its ID. */
function useActors(current: string | undefined) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useQuery(membersQuery(org.id)).data?.members ?? []
  const tokens = useQuery(tokensQuery(org.id)).data?.tokens ?? []
  const people = members.map(({ userId, name, email }) => ({ value: userId, label: name ?? email ?? userId }))
  const machines = tokens.map(({ id, name }) => ({ value: id, label: `${name} (${id.slice(0, 8)}…)` }))
  const known = new Set([...people, ...machines].map(({ value }) => value))
  const others = current === undefined || known.has(current) ? [] : [{ value: current, label: current }]
  return [
    { group: 'Members', items: people },
    { group: 'Service tokens', items: machines },
    { group: 'Others', items: others },
  ].filter(({ items }) => items.length > 0)
}
