import { Button, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { invalidate, passkeysQuery, secondFactorQuery } from '../queries.ts'
import { OneLine } from '../ui/cells.tsx'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { IconFingerprint } from '../ui/icons.ts'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { signInPasskeysQuery } from './queries.ts'

interface Listed {
  id: string
  label: string
}

/** One passkey can be of both kinds: for unlocking and for signing in. */
const reload = async () => {
  for (const { queryKey } of [passkeysQuery, secondFactorQuery, signInPasskeysQuery]) await invalidate({ queryKey })
}

/** The passkeys of one kind, each with a way to remove it, and a button to add one. */
export function PasskeyList<P extends Listed>(props: {
  title: string
  description: string
  query: UseQueryResult<{ passkeys: P[] }>
  none: string
  /** The column beside the name. */
  time: ListColumn<P>
  remove: (id: string) => Promise<unknown>
  /** What removing one means, after its name. */
  removing: string
  adding: (onClose: () => void) => ReactNode
}) {
  const { title, description, query, none, time, remove, removing, adding } = props
  const [isAdding, setIsAdding] = useState(false)
  const [ending, setEnding] = useState<Listed | null>(null)
  return (
    <Section
      title={title}
      description={description}
      actions={
        <Button variant="default" leftSection={<IconFingerprint size={16} />} onClick={() => setIsAdding(true)}>
          Add a passkey
        </Button>
      }
    >
      <List
        label={title}
        query={query}
        rows={({ passkeys }) => passkeys}
        columns={[{ header: 'Name', cell: ({ label }) => <OneLine text={label} />, sort: ({ label }) => label }, time]}
        rowId={({ id }) => id}
        rowName={({ label }) => label}
        action={(passkey) => ({ label: 'Remove', danger: true, onClick: () => setEnding(passkey) })}
        empty={
          <Text size="sm" c="dimmed">
            {none}
          </Text>
        }
      />
      {isAdding && adding(() => setIsAdding(false))}
      <ConfirmDelete
        title="Remove this passkey?"
        confirm="Remove"
        opened={ending !== null}
        onClose={() => setEnding(null)}
        onConfirm={async () => {
          await remove(ending?.id ?? '')
          await reload()
        }}
      >
        {ending?.label} {removing}
      </ConfirmDelete>
    </Section>
  )
}

/** Asks what to call a new passkey, then has the device make it. */
export function AddPasskey(props: {
  title: string
  onClose: () => void
  add: (label: string) => Promise<unknown>
  children?: ReactNode
}) {
  const { title, onClose, add, children } = props
  const form = useApiForm('passkeys', 'create', { label: '' })
  const submit = async ({ label }: { label: string }) => {
    await add(label)
    await reload()
  }
  return (
    <FormDialog title={title} submit="Continue" form={form} onClose={onClose} onSubmit={submit}>
      <NameField placeholder="Laptop" {...form.getInputProps('label')} />
      {children}
    </FormDialog>
  )
}
