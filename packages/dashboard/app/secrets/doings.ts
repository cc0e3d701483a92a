import type { Column } from './columns.ts'

/** What can be done in a matrix. The same object for as long as the matrix is shown, so that rows need not be made anew. */
export interface Doings {
  toggle: (columns: Column[], name: string) => void
  copy: (column: Column, name: string) => void
  edit: (column: Column, name: string) => void
  open: (column: Column, name: string) => void
  type: (column: Column, name: string, some: { value?: string; note?: string }) => void
  save: (column: Column, name: string) => void
  cancel: (column: Column, name: string) => void
  settle: (column: Column, name: string) => void
}
