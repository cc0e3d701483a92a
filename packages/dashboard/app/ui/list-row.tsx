import { ActionIcon, Button, Menu, Table } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { IconChevronDown, IconChevronRight, IconEllipsis } from './icons.ts'
import { MenuItems } from './menu-items.tsx'

export interface ListColumn<R> {
  header: string
  cell: (row: R) => ReactNode
  /** In pixels or percent. Columns without a width share the rest. */
  width?: number | string
  /**
   * Returns the value to sort by. A column without it cannot be sorted. Omit it if the server sends the list in pages.
   */
  sort?: (row: R) => string | number | null
}

export interface RowAction {
  label: string
  onClick: () => void
  /** The action removes something. */
  danger?: boolean
  disabled?: boolean
}

export interface RowProps<R> {
  rowId: (row: R) => string
  /** The name of a row in the labels of its buttons. */
  rowName: (row: R) => string
  /** A button at the end of each row. */
  action?: (row: R) => RowAction | null
  /** A menu at the end of each row. A row without actions has none. */
  actions?: (row: R) => RowAction[]
  /** The content below a row when it is expanded. */
  details?: (row: R) => ReactNode
}

/** A row of a list with its actions. Its details are below it when expanded. */
export function ListRow<R>(props: RowProps<R> & { row: R; columns: ListColumn<R>[] }) {
  const { row, columns, rowName, action, actions, details } = props
  const [isOpen, setIsOpen] = useState(false)
  const detailsId = useId()
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  const single = action?.(row)
  const several = actions?.(row) ?? []
  const width = columns.length + (action || actions ? 2 : 1)
  return (
    <>
      <Table.Tr role="row">
        {details && (
          <Table.Td role="cell" pr={0} className="list-toggle">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={isOpen ? 'Hide details' : 'Show details'}
              aria-expanded={isOpen}
              aria-controls={detailsId}
              onClick={() => setIsOpen(!isOpen)}
            >
              <Chevron size={16} />
            </ActionIcon>
          </Table.Td>
        )}
        {columns.map((column) => (
          <Table.Td key={column.header} role="cell" data-label={column.header}>
            <div>{column.cell(row)}</div>
          </Table.Td>
        ))}
        {(action || actions) && (
          <Table.Td role="cell" ta="right" className="list-actions">
            {single && <ActionButton action={single} name={rowName(row)} />}
            {several.length > 0 && <ActionMenu actions={several} name={rowName(row)} />}
          </Table.Td>
        )}
      </Table.Tr>
      {details && (
        <Table.Tr role="row" hidden={!isOpen}>
          <Table.Td role="cell" colSpan={width} id={detailsId} className="list-details">
            {isOpen && details(row)}
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

function ActionButton({ action, name }: { action: RowAction; name: string }) {
  const { label, danger, disabled = false, onClick } = action
  return (
    <Button
      variant="subtle"
      color={danger ? 'red' : 'gray'}
      size="xs"
      aria-label={`${label} ${name}`}
      disabled={disabled}
      onClick={onClick}
    >
      {label}
    </Button>
  )
}

function ActionMenu({ actions, name }: { actions: RowAction[]; name: string }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconEllipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <MenuItems>
        {actions.map(({ label, danger, disabled = false, onClick }) => (
          <Menu.Item key={label} {...(danger ? { color: 'red' } : {})} disabled={disabled} onClick={onClick}>
            {label}
          </Menu.Item>
        ))}
      </MenuItems>
    </Menu>
  )
}
