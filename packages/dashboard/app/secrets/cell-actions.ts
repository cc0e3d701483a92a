import type { Column } from './columns.ts'

/** The actions of cells. The object stays the same while the matrix is shown, so that rows need not render again. */
export interface CellActions {
  toggle: (columns: Column[], name: string) => void
  copy: (column: Column, name: string) => void
  /** A value that is too long for its cell is always edited in the drawer. */
  edit: (column: Column, name: string, isInDrawer?: boolean) => void
  open: (column: Column, name: string) => void
  edited: (column: Column, name: string, some: { value?: string; note?: string }) => void
  save: (column: Column, name: string) => void
  cancel: (column: Column, name: string) => void
  resolveConflict: (column: Column, name: string) => void
}
