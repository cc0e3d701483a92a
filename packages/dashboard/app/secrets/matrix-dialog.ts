import type { Column } from './columns.ts'

/** The dialog that is open over a matrix, and what for. */
export type MatrixDialog =
  | { kind: 'add' }
  | { kind: 'paste'; column: Column }
  | { kind: 'copy'; column: Column }
  | { kind: 'secret'; column: Column; name: string }
  | { kind: 'conflict'; column: Column; name: string }
