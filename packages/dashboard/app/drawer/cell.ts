import type { CellActions } from '../secrets/cell-actions.ts'
import type { Column } from '../secrets/columns.ts'
import type { MatrixDialog } from '../secrets/matrix-dialog.ts'
import type { useEdits } from '../secrets/use-edits.ts'

/** A secret in one environment, and the edits and actions of its matrix. */
export interface Cell {
  orgId: string
  columns: Column[]
  column: Column
  name: string
  edits: ReturnType<typeof useEdits>
  actions: CellActions
  onOpen: (dialog: MatrixDialog) => void
  onClose: () => void
}
