import { Button } from '@mantine/core'
import { type Column, namesIn } from './columns.ts'
import type { MatrixDialog } from './matrix-dialog.ts'
import type { Selection } from './use-selection.ts'

interface Props {
  columns: Column[]
  selection: Selection
  onOpenDialog: (dialog: MatrixDialog) => void
}

/** The bar below the matrix, with what can be done to the selected secrets. */
export function BulkBar({ columns, selection: { names, selectAll }, onOpenDialog }: Props) {
  const clear = () => selectAll(false)
  const open = (action: 'copy' | 'move' | 'delete') => () =>
    onOpenDialog({ kind: 'bulk', action, names, onDone: clear })
  const reasons = reasonsAgainst(columns, names)
  const shownReasons = [...new Set(Object.values(reasons).filter((text) => text !== null))]
  return (
    <section className="bulk-bar" aria-label="Selected secrets">
      <span role="status">{names.length === 1 ? '1 selected' : `${names.length} selected`}</span>
      <Button variant="default" disabled={reasons.copy !== null} onClick={open('copy')}>
        Copy to…
      </Button>
      <Button variant="default" disabled={reasons.move !== null} onClick={open('move')}>
        Move to…
      </Button>
      <Button variant="default" c="red" disabled={reasons.delete !== null} onClick={open('delete')}>
        Delete…
      </Button>
      <Button variant="subtle" color="gray" onClick={clear}>
        Clear
      </Button>
      {shownReasons.length > 0 && <span className="help">{shownReasons.join(' ')}</span>}
    </section>
  )
}

/** Says why an action is impossible, or null if it is possible. */
function reasonsAgainst(columns: Column[], names: string[]) {
  const writable = columns.filter(({ own }) => own)
  const areOwn = writable.some((column) => namesIn(column, names, 'move').length > 0)
  const hasTarget = (kind: 'copy' | 'move') =>
    columns.some((source) => namesIn(source, names, kind).length > 0 && writable.some((target) => target !== source))
  if (writable.length === 0) {
    const reason = 'You hold no key of these environments.'
    return { copy: reason, move: reason, delete: reason }
  }
  const noTarget = columns.length === 1 ? 'There is no other environment.' : 'You hold no key of another environment.'
  const inherited = 'These values come from a group or a parent environment. Move or delete them there.'
  return {
    copy: hasTarget('copy') ? null : noTarget,
    move: areOwn ? (hasTarget('move') ? null : noTarget) : inherited,
    delete: areOwn ? null : inherited,
  }
}
