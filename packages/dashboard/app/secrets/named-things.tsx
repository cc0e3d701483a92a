import { ActionIcon, Button, Menu, Table, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type LinkProps, useNavigate, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Empty } from '../ui/empty.tsx'
import { IconEllipsis, IconPlus } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { CreateDialog, RenameDialog } from './named-thing-dialogs.tsx'

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
    /** How an admin makes the first one. */
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
  return (
    <Page title={title} description={description} actions={isEmpty ? null : newButton}>
      <Loaded query={query}>
        {(data) =>
          isEmpty ? (
            <Empty title={`No ${what} yet`} action={newButton} command={mayChange && command}>
              {mayChange ? begin : 'An administrator of the organization makes the first one.'}
            </Empty>
          ) : (
            <NamedThings things={thingsOf(data)} mayChange={mayChange} {...props} />
          )
        }
      </Loaded>
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

/** Each with its name and slug, and what can be done with it. */
function NamedThings(props: Props & { things: Thing[]; mayChange: boolean }) {
  const { things, what, linkTo, mayChange, deleteMeans, onRename, onDelete } = props
  const [asking, setAsking] = useState<{ kind: 'rename' | 'delete'; thing: Thing } | null>(null)
  const close = () => setAsking(null)
  return (
    <div className="rows">
      <Table layout="fixed" miw={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Slug</Table.Th>
            <Table.Th w={150}>Changed</Table.Th>
            {mayChange && <Table.Th w={64} aria-label="Actions" />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {things.map((thing) => (
            <Table.Tr key={thing.id}>
              <Table.Td>
                <AnchorLink {...linkTo(thing.slug)} size="sm" fw={500} truncate display="block" title={thing.name}>
                  {thing.name}
                </AnchorLink>
              </Table.Td>
              <Table.Td>
                <Text className="mono" c="dimmed" truncate title={thing.slug}>
                  {thing.slug}
                </Text>
              </Table.Td>
              <Table.Td>
                <RelativeTime at={thing.updatedAt} />
              </Table.Td>
              {mayChange && (
                <Table.Td ta="right">
                  <Menu position="bottom-end">
                    <Menu.Target>
                      <ActionIcon variant="subtle" color="gray" aria-label={`What can be done with ${thing.name}`}>
                        <IconEllipsis size={16} />
                      </ActionIcon>
                    </Menu.Target>
                    <Menu.Dropdown>
                      <Menu.Item onClick={() => setAsking({ kind: 'rename', thing })}>Rename…</Menu.Item>
                      <Menu.Item color="red" onClick={() => setAsking({ kind: 'delete', thing })}>
                        Delete…
                      </Menu.Item>
                    </Menu.Dropdown>
                  </Menu>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {asking?.kind === 'rename' && (
        <RenameDialog
          title={`Rename ${asking.thing.name}`}
          name={asking.thing.name}
          onRename={(name) => onRename(asking.thing.id, name)}
          onClose={close}
        />
      )}
      {asking?.kind === 'delete' && (
        <ConfirmDelete
          title={`Delete the ${what} ${asking.thing.name}?`}
          confirm="Delete"
          typed={asking.thing.slug}
          opened
          onClose={close}
          onConfirm={() => onDelete(asking.thing.id)}
        >
          {deleteMeans}
        </ConfirmDelete>
      )}
    </div>
  )
}
