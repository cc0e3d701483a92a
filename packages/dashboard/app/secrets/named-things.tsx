import { Button, Text } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LinkProps, useNavigate, useRouteContext } from '@tanstack/react-router'
import { invalidate, type Stale } from '../queries.ts'
import { Empty } from '../ui/empty.tsx'
import { EnvStrip } from '../ui/env-strip.tsx'
import { IconPlus } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { CreateDialog } from './create-dialog.tsx'
import type { EnvironmentWithAccess } from './use-columns.ts'

interface Thing {
  id: string
  name: string
  slug: string
  updatedAt: string
}

interface Props<T> {
  what: 'application' | 'group'
  title: string
  description: string
  query: UseQueryResult<T>
  thingsOf: (data: T) => Thing[]
  linkTo: (slug: string) => LinkProps
  useEnvironments: UseEnvironments
  /** How an admin creates the first one. */
  begin: string
  command: string
  placeholder: string
  deleteMeans: string
  onCreate: (body: { name: string; slug: string }) => Promise<unknown>
  onRename: (id: string, name: string) => Promise<unknown>
  onDelete: (id: string, slug: string) => Promise<unknown>
  /** The queries that a creation, rename or deletion makes stale. */
  stale: readonly Stale[]
}

/** The page of all applications, or of all groups. */
export function NamedThingsPage<T>(props: Props<T>) {
  const { what, title, description, query, thingsOf, linkTo, begin, command } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { creating, renaming, deleting, dialogs } = useDialogs(props)
  const mayChange = org.role !== 'member'
  const newButton = mayChange && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => creating.open()}>
      New {what}
    </Button>
  )
  const isEmpty = query.data === undefined || thingsOf(query.data).length === 0
  const actions = (thing: Thing): RowAction[] => [
    { label: 'Rename…', onClick: () => renaming.open(thing) },
    { label: 'Delete…', danger: true, onClick: () => deleting.open(thing) },
  ]
  return (
    <Page title={title} actions={isEmpty ? null : newButton}>
      <List
        label={title}
        query={query}
        rows={thingsOf}
        columns={columnsOf(linkTo, props.useEnvironments)}
        minWidth={480}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        {...(mayChange ? { actions } : {})}
        empty={
          <Empty title={`No ${what} yet`} action={newButton} command={mayChange && command}>
            {description} {mayChange ? begin : 'Ask an admin of the organization to create the first one.'}
          </Empty>
        }
      />
      {dialogs}
    </Page>
  )
}

/** The dialogs that create, rename and delete an application or group. */
function useDialogs<T>({ what, linkTo, placeholder, deleteMeans, onCreate, onRename, onDelete, stale }: Props<T>) {
  const navigate = useNavigate()
  const creating = useDialog()
  const renaming = useDialog<Thing>()
  const deleting = useConfirm(({ id, name, slug }: Thing) => ({
    title: `Delete the ${what} ${name}?`,
    text: deleteMeans,
    confirm: 'Delete',
    typed: slug,
    onConfirm: () => onDelete(id, slug),
    stale,
  }))
  const create = async (body: { name: string; slug: string }) => {
    await onCreate(body)
    // The new page finds its application or group in the list, so the list reloads first.
    await invalidate(...stale)
    await navigate(linkTo(body.slug))
  }
  const dialogs = (
    <>
      {renaming.show((onClose, { id, name }) => (
        <RenameDialog
          name={name}
          description="The slug stays as it is."
          onRename={(to) => onRename(id, to)}
          stale={stale}
          onClose={onClose}
        />
      ))}
      {deleting.dialog}
      {creating.show((onClose) => (
        <CreateDialog title={`New ${what}`} onCreate={create} stale={[]} {...{ placeholder, onClose }} />
      ))}
    </>
  )
  return { creating, renaming, deleting, dialogs }
}

/** Returns the environments of an application or a group, which are loaded when its row comes into sight. */
type UseEnvironments = (id: string, isInSight: boolean) => EnvironmentWithAccess[] | undefined

function Environments({ id, useEnvironments }: { id: string; useEnvironments: UseEnvironments }) {
  const { ref, entry } = useIntersection()
  const environments = useEnvironments(id, entry?.isIntersecting ?? false)
  return <div ref={ref}>{environments && <EnvStrip environments={environments} />}</div>
}

const columnsOf = (linkTo: (slug: string) => LinkProps, useEnvironments: UseEnvironments): ListColumn<Thing>[] => [
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
  { header: 'Environments', cell: ({ id }) => <Environments {...{ id, useEnvironments }} /> },
  timeColumn('Changed', 'updatedAt', 150),
]
