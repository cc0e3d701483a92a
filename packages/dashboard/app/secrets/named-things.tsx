import { ActionIcon, Anchor, Menu, Table, Text } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { RenameDialog } from './named-thing-dialogs.tsx'

interface Thing {
  id: string
  name: string
  slug: string
  updatedAt: string
}

/** Applications, or groups: a name, a slug, and what can be done with each. */
export function NamedThings<T extends Thing>(props: {
  things: T[]
  what: string
  linkTo: (thing: T) => LinkProps
  mayChange: boolean
  deleteMeans: string
  onRename: (thing: T, name: string) => Promise<unknown>
  onDelete: (thing: T) => Promise<unknown>
}) {
  const { things, what, linkTo, mayChange, deleteMeans, onRename, onDelete } = props
  const [asking, setAsking] = useState<{ kind: 'rename' | 'delete'; thing: T } | null>(null)
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
                <Anchor
                  component={Link}
                  {...(linkTo(thing) as object)}
                  size="sm"
                  fw={500}
                  truncate
                  display="block"
                  title={thing.name}
                >
                  {thing.name}
                </Anchor>
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
                        <IconDots size={16} />
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
          onRename={(name) => onRename(asking.thing, name)}
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
          onConfirm={() => onDelete(asking.thing)}
        >
          {deleteMeans}
        </ConfirmDelete>
      )}
    </div>
  )
}
