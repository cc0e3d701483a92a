import type { TObject, Type } from 'typebox'

/** The contract's facts about one kind of sync destination. Its name is in vendors.ts. */
export interface SyncRow {
  config: TObject
  /** An object, or a union of objects that differ in `kind`. */
  destination: TObject | ReturnType<typeof Type.Union>
  /** Describes the credential and the rights that it needs, to the person who enters it. The docs list it, too. */
  credential: string
}
