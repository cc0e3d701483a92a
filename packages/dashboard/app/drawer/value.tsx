import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Column, type Entry, isUnreadable } from '../secrets/columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { openCell } from '../secrets/use-revealed.ts'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Reveal } from '../ui/reveal.tsx'
import type { Cell } from './cell.ts'
import { Expanded } from './expanded.tsx'
import { versionsQuery } from './queries.ts'
import { SyncedTo } from './synced-to.tsx'
import { ValueEditor } from './value-editor.tsx'

/** The value, masked until it is revealed, or its editor. */
export function ValuePart({ entry, ...cell }: Cell & { entry: Entry | undefined }) {
  const { column, name, edits } = cell
  const draft = edits.drafts.get(name)?.[column.environmentId]
  const part = useRef<HTMLDivElement>(null)
  const isEditing = draft !== undefined
  // The focus returns to the button that began the edit.
  useEffect(() => {
    if (!isEditing) return
    return () => {
      if (document.activeElement === document.body) part.current?.querySelector('button')?.focus()
    }
  }, [isEditing])
  return (
    <div ref={part}>
      <Section title="Value" actions={!draft && <ValueActions {...cell} entry={entry} />}>
        {draft ? <ValueEditor {...cell} draft={draft} /> : <Shown {...cell} entry={entry} />}
        {entry && <Facts {...cell} entry={entry} />}
        {!draft && entry && <Expanded key={entry.secret.ciphertext} column={column} name={name} />}
      </Section>
    </div>
  )
}

function ValueActions({ column, name, entry, actions, onOpen }: Cell & { entry: Entry | undefined }) {
  if (column.loading) return null
  if (!column.own)
    return (
      <Button variant="default" onClick={() => onOpen({ kind: 'ask', column })}>
        Ask for access
      </Button>
    )
  return (
    <Button variant="default" onClick={() => actions.edit(column, name, true)}>
      {entry ? (entry.own ? 'Edit' : 'Override') : 'Set a value'}
    </Button>
  )
}

function Shown({ column, name, entry }: Cell & { entry: Entry | undefined }) {
  if (entry)
    return (
      <Reveal key={entry.secret.ciphertext} name={`the value of ${name}`} open={() => openCell({ column, entry })} />
    )
  return (
    <Text>
      {!column.own
        ? `You hold no key of ${column.name}, so its values cannot be shown.`
        : isUnreadable(column, name)
          ? `The value may come from ${column.unreadable.join(', ')}, which you cannot read.`
          : `${column.name} has no ${name}.`}
    </Text>
  )
}

function Facts({ orgId, column, name, entry }: Cell & { entry: Entry }) {
  const nameOf = useNameOf(orgId)
  const query = useInfiniteQuery(versionsQuery(orgId, entry.layer.environmentId, name, entry.secret.version))
  const last = query.data?.pages[0]?.versions[0]
  const below = entry.own ? layersBelow(column, name) : []
  return (
    <>
      <dl className="facts">
        <dt>Changed</dt>
        <dd>
          <RelativeTime at={entry.secret.updatedAt} />
          {last && ` by ${nameOf(last.createdById)}`}
        </dd>
        {below.length > 0 && (
          <>
            <dt>Overrides</dt>
            <dd>the value of {below.join(', ')}</dd>
          </>
        )}
        {column.queued.has(name) && (
          <>
            <dt>Proposed</dt>
            <dd>a change waits for approval</dd>
          </>
        )}
        <SyncedTo {...{ column, name }} />
      </dl>
      {!entry.own && (
        <Text c="dimmed" mt="xs">
          This value comes from {entry.layer.label}. Its history is there. Override it to have another value in{' '}
          {column.name} only.
        </Text>
      )}
      {!entry.isCertain && (
        <Text c="dimmed" mt="xs">
          A layer that you cannot read may override it.
        </Text>
      )}
    </>
  )
}

/** Returns the readable layers whose value this environment's own value overrides. */
const layersBelow = ({ layers, environmentId }: Column, name: string): string[] =>
  layers.filter((layer) => layer.environmentId !== environmentId && layer.secrets.has(name)).map(({ label }) => label)
