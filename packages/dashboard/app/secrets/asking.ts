import type { Column } from './columns.ts'

/** What a dialog is open for. */
export type Asking =
  | { kind: 'add' }
  | { kind: 'paste'; column: Column }
  | { kind: 'copy'; column: Column }
  | { kind: 'secret'; column: Column; name: string }
  | { kind: 'conflict'; column: Column; name: string }
