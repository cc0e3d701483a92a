import { Button, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LinkProps, useNavigate, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Empty } from '../ui/empty.tsx'
import { IconPlus } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'
import { CreateDialog } from './create-dialog.tsx'

interface Thing {
  id: string
  name: string
  slug: string
  updatedAt: string
}

interface Props {
  what: 'application' | 'group'
  linkTo: (slug: string) => LinkProps
  deleteMeans: string
  onRename: (id: string, name: string) => Promise<unknown>
  onDelete: (id: string) => Promise<unknown>
}

/** The page of all applications, or of all groups. */
export function NamedThingsPage<T>(
  props: Props & {
    title: string
    description: string
    query: UseQueryResult<T>
    thingsOf: (data: T) => Thing[]
    /** How an admin creates the first one. */
    begin: string
    command: string
    placeholder: string
    onCreate: (body: { name: string; slug: string }) => Promise<unknown>
  },
) {
  const { what, title, description, query, thingsOf, begin, command, placeholder, onCreate } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const [creating, setCreating] = useState(false)
  const mayChange = org.role !== 'member'
  const newButton = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New {what}
    </Button>
  )
  const isEmpty = query.data === undefined || thingsOf(query.data).length === 0
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  return (
    <Page title={title} description={description} actions={isEmpty ? null : newButton}>
      <List
        label={title}
        query={query}
        rows={thingsOf}
        columns={columnsOf(props.linkTo)}
        minWidth={480}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        {...(mayChange ? { actions: actionsOf(setDialog) } : {})}
        empty={
          <Empty title={`No ${what} yet`} action={newButton} command={mayChange && command}>
            {mayChange ? begin : 'An administrator of the organization creates the first one.'}
          </Empty>
        }
      />
      {dialog && <ThingDialog dialog={dialog} onClose={() => setDialog(null)} {...props} />}
      {creating && (
        <CreateDialog
          title={`New ${what}`}
          placeholder={placeholder}
          onClose={() => setCreating(false)}
          onCreate={async (body) => {
            await onCreate(body)
            await navigate(props.linkTo(body.slug))
          }}
        />
      )}
    </Page>
  )
}

interface OpenDialog {
  kind: 'rename' | 'delete'
  thing: Thing
}

const actionsOf =
  (open: (dialog: OpenDialog) => void) =>
  (thing: Thing): RowAction[] => [
    { label: 'Rename…', onClick: () => open({ kind: 'rename', thing }) },
    { label: 'Delete…', danger: true, onClick: () => open({ kind: 'delete', thing }) },
  ]

const columnsOf = (linkTo: Props['linkTo']): ListColumn<Thing>[] => [
  {
    header: 'Name',
    cell: ({ name, slug }) => (
      <AnchorLink {...linkTo(slug)} size="sm" fw={500} truncate display="block" title={name}>
        {name}
      </AnchorLink>
    ),
    sort: ({ name }) => name,
  },
  {
    header: 'Slug',
    cell: ({ slug }) => (
      <Text className="mono" c="dimmed" truncate title={slug}>
        {slug}
      </Text>
    ),
    sort: ({ slug }) => slug,
  },
  timeColumn('Changed', 'updatedAt', 150),
]

function ThingDialog(props: Props & { dialog: OpenDialog; onClose: () => void }) {
  const { dialog, what, deleteMeans, onRename, onDelete, onClose } = props
  const { id, name, slug } = dialog.thing
  if (dialog.kind === 'rename')
    return (
      <RenameDialog
        name={name}
        description="The slug stays as it is."
        onRename={(to) => onRename(id, to)}
        onClose={onClose}
      />
    )
  return (
    <ConfirmDelete
      title={`Delete the ${what} ${name}?`}
      confirm="Delete"
      typed={slug}
      onClose={onClose}
      onConfirm={() => onDelete(id)}
    >
      {deleteMeans}
    </ConfirmDelete>
  )
}
