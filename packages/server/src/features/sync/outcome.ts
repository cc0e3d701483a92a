import type { Refused } from './decide.ts'
import type { OpenRun } from './run-store.ts'
import type { Binding, Connection } from './scope.ts'

/** A run that has its places, so that no other one writes there. */
export interface Taken {
  run: OpenRun
  binding: Binding
  connection: Connection
  /** Since the last push to one of these places. */
  idleMs: number
}

/** What is to be done next: the same once its places are free, or another try of the binding after so long. */
export type Next = 'again' | { bindingId: string; retryAfterSeconds: number } | null

/** What a run came to, but for the names that it wrote and removed: those are written down as it goes. */
export interface Outcome {
  failures: Refused[]
  /** Names of somebody else, which were left alone. */
  skipped: Refused[]
  unchanged: number
  /** How many names it wrote or removed. */
  done: number
  /** What ended it before all was done. */
  error: string | null
  /** Whether the destination answered; null where it was not asked. */
  reached: boolean | null
  /** Whether the destination refused the credential. */
  denied: boolean
  /** Set where another try may help, with what the provider asks to wait. */
  retry: { afterMs: number } | null
  /** Of what it took up; null where it never looked. */
  digest: string | null
}

export const nothingDone = (): Outcome => ({
  failures: [],
  skipped: [],
  unchanged: 0,
  done: 0,
  error: null,
  reached: null,
  denied: false,
  retry: null,
  digest: null,
})
