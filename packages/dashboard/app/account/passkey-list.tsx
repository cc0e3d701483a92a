import { Button, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, Suspense } from 'react'
import { OneLine } from '../ui/cells.tsx'
import { IconFingerprint } from '../ui/icons.ts'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { passkeyQueries } from './queries.ts'

interface Listed {
  id: string
  label: string
}

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
    stale: passkeyQueries,
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
      <Suspense>{dialog.show(adding)}</Suspense>
      {ending.dialog}
    </Section>
  )
}
