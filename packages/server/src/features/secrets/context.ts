import type { Propose } from './proposing.ts'
import type { RoomContext } from './room.ts'
import type { Writes } from './writes.ts'

/** What writes of secrets work with. */
export interface SecretsContext extends RoomContext {
  writes: Writes
  /** Writes to environments that are nearly full. */
  countedWrites: Writes
  /** Of changes/, which stands on secrets because it applies what was proposed. */
  propose: Propose
}
