import { Button, Group, Menu, SegmentedControl, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useUnlocked } from '../keyring.ts'
import { IconClipboardList, IconPlus, IconSearch, IconTrash } from '../ui/icons.ts'
import { MenuItems } from '../ui/menu-items.tsx'
import type { Column } from './columns.ts'
import { type Filter, filters } from './filters.ts'

export function Toolbar(props: {
  search: string
  setSearch: (search: string) => void
  filter: Filter
  setFilter: (filter: Filter) => void
  count: string
  writable: Column[]
  onAdd: () => void
  onPaste: (column: Column) => void
  /** Lists the deleted secrets. */
  onDeleted: () => void
  choices?: ReactNode
}) {
  const searchLabel = useUnlocked() ? 'Find by name or value' : 'Find by name'
  const { search, setSearch, filter, setFilter, count, writable, onAdd, onPaste, onDeleted, choices } = props
  return (
    <div className="matrix-tools-bar">
      <TextInput
        w={{ base: '100%', sm: 220 }}
        aria-label={searchLabel}
        placeholder={searchLabel}
        leftSection={<IconSearch size={15} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label="Show"
        data={filters}
        value={filter}
        onChange={(value) => setFilter(value as Filter)}
      />
      <span className="help" role="status">
        {count}
      </span>
      <Group gap="sm">
        {choices}
        {writable.length > 0 && (
          <>
            <Button variant="default" leftSection={<IconTrash size={15} />} onClick={onDeleted}>
              Deleted
            </Button>
            <PasteButton writable={writable} onPaste={onPaste} />
            <Button leftSection={<IconPlus size={15} />} onClick={onAdd}>
              Add secret
            </Button>
          </>
        )}
      </Group>
    </div>
  )
}

function PasteButton({ writable, onPaste }: { writable: Column[]; onPaste: (column: Column) => void }) {
  const button = { variant: 'default', leftSection: <IconClipboardList size={15} /> } as const
  const [only] = writable
  if (writable.length === 1 && only)
    return (
      <Button {...button} onClick={() => onPaste(only)}>
        Paste .env
      </Button>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button {...button}>Paste .env</Button>
      </Menu.Target>
      <MenuItems>
        <Menu.Label>Into</Menu.Label>
        {writable.map((column) => (
          <Menu.Item key={column.environmentId} onClick={() => onPaste(column)}>
            {column.name}
          </Menu.Item>
        ))}
      </MenuItems>
    </Menu>
  )
}
