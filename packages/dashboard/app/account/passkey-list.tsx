import { Button, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { passkeysQuery, secondFactorQuery } from '../queries.ts'
import { OneLine } from '../ui/cells.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { IconFingerprint } from '../ui/icons.ts'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { signInPasskeysQuery } from './queries.ts'

interface Listed {
  id: string
  label: string
}

/** A passkey can serve for both unlocking and signing in, so a change makes all three queries stale. */
const stale = [passkeysQuery, secondFactorQuery, signInPasskeysQuery]

/** The passkeys of one kind. Each can be removed, and a button adds one. */
export function PasskeyList<P extends Listed>(props: {
  title: string
  description: string
  query: UseQueryResult<{ passkeys: P[] }>
  none: string
  /** The column beside the name. */
  time: ListColumn<P>
  remove: (id: string) => Promise<unknown>
  /** The text after the passkey's name that says what its removal does. */
  removing: string
  adding: (onClose: () => void) => ReactNode
}) {
  const { title, description, query, none, time, remove, removing, adding } = props
  const dialog = useDialog()
  const ending = useConfirm(({ id, label }: Listed) => ({
    title: 'Remove this passkey?',
    text: `${label} ${removing}`,
    confirm: 'Remove',
    onConfirm: () => remove(id),
    stale,
  }))
  return (
    <Section
      title={title}
      description={description}
      actions={
        <Button variant="default" leftSection={<IconFingerprint size={16} />} onClick={() => dialog.open()}>
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
        action={(passkey) => ({ label: 'Remove', danger: true, onClick: () => ending.open(passkey) })}
        empty={
          <Text size="sm" c="dimmed">
            {none}
          </Text>
        }
      />
      {dialog.show(adding)}
      {ending.dialog}
    </Section>
  )
}

/** Asks for the name of a new passkey, then calls `add`, which creates it on the device. */
export function AddPasskey(props: {
  title: string
  onClose: () => void
  add: (label: string) => Promise<unknown>
  children?: ReactNode
}) {
  const { title, onClose, add, children } = props
  const form = useApiForm('passkeys', 'create', { label: '' })
  return (
    <FormDialog
      title={title}
      submit="Continue"
      form={form}
      onClose={onClose}
      onSubmit={({ label }) => add(label)}
      stale={stale}
    >
      <NameField placeholder="Laptop" {...form.getInputProps('label')} />
      {children}
    </FormDialog>
  )
}
