import { Button, Group, Menu, SegmentedControl, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useUnlocked } from '../keyring.ts'
import { IconClipboardList, IconPlus, IconSearch, IconTrash } from '../ui/icons.ts'
import { MenuItems } from '../ui/menu-items.tsx'
import { BarActions } from './bar-actions.tsx'
import type { Column } from './columns.ts'
import { type Filter, filters } from './filters.ts'
import type { FilterCounts } from './found-names.ts'

export function Toolbar(props: {
  search: string
  setSearch: (search: string) => void
  filter: Filter
  setFilter: (filter: Filter) => void
  counts: FilterCounts
  writable: Column[]
  /** More columns may become writable: neither button may take the first one for the one that the person means. */
  isLoading: boolean
  onAdd: () => void
  onPaste: (column: Column) => void
  /** Lists the deleted secrets. */
  onDeleted: () => void
  choices?: ReactNode
}) {
  const searchLabel = useUnlocked() ? 'Find by name or value' : 'Find by name'
  const { search, setSearch, filter, setFilter, counts, writable, isLoading, onAdd, onPaste, onDeleted, choices } =
    props
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
        data={filters.map((one) => ({ ...one, label: <Counted {...one} count={counts[one.value]} /> }))}
        value={filter}
        onChange={(value) => setFilter(value as Filter)}
      />
      <Group gap="sm">
        {choices}
        {writable.length > 0 && (
          <Button variant="default" leftSection={<IconTrash size={15} />} onClick={onDeleted}>
            Deleted
          </Button>
        )}
      </Group>
      {writable.length > 0 && (
        <BarActions>
          <ImportButton {...{ writable, isLoading, onPaste }} />
          <Button leftSection={<IconPlus size={15} />} onClick={onAdd} disabled={isLoading}>
            Add secret
          </Button>
        </BarActions>
      )}
    </div>
  )
}

/** A filter with its count. Zero is not shown, as in lists. */
const Counted = ({ label, count = 0 }: { label: string; count?: number | undefined }) => (
  <>
    {label}
    {count > 0 && <span className="matrix-filter-count"> {count}</span>}
  </>
)

function ImportButton(props: { writable: Column[]; isLoading: boolean; onPaste: (column: Column) => void }) {
  const { writable, isLoading, onPaste } = props
  const button = { variant: 'default', leftSection: <IconClipboardList size={15} />, disabled: isLoading } as const
  const [only] = writable
  if (writable.length === 1 && only)
    return (
      <Button {...button} onClick={() => onPaste(only)}>
        Import
      </Button>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button {...button}>Import</Button>
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
