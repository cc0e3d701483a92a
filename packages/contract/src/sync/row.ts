import type { TObject, Type } from 'typebox'

/** What the contract says of one kind of sync destination. */
export interface SyncRow {
  /** What people call it. */
  label: string
  config: TObject
  /** An object, or a union of them that a `kind` tells apart. */
  destination: TObject | ReturnType<typeof Type.Union>
  /** What the credential is and what it must be allowed, for a person who is asked for it. The docs list it, too. */
  credential: string
}
