import type { Column } from './columns.ts'

/** The open dialog of a matrix, with its column and its secret. */
export type MatrixDialog =
  | { kind: 'add' }
  | { kind: 'deleted' }
  | { kind: 'ask'; column: Column }
  | { kind: 'paste'; column: Column }
  | { kind: 'copy'; column: Column }
  | { kind: 'download'; column: Column }
  | { kind: 'secret'; column: Column; name: string }
  | { kind: 'rename'; column: Column; name: string }
  | { kind: 'conflict'; column: Column; name: string }
  | { kind: 'bulk'; action: 'copy' | 'move' | 'delete'; names: string[]; onDone: () => void }
