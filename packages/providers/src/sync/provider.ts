import type { SyncConfig, SyncDestination, SyncTag } from '@skerry/contract/sync/providers'
import type { Outbound } from '../outbound.ts'

// An adapter knows one kind of destination and nothing of bindings, ledgers or runs. It never waits: who runs it keeps the
// pace and repeats what failed for a while. What it throws is a `ProviderError`; a name that failed alone is in the outcome.

/** The module of one adapter. It is loaded when the first destination of its kind is used. */
export interface SyncProvider<T extends SyncTag> {
  /** Describes a destination, without asking it. `syncProvider` has checked the place against its schemas and rules. */
  describe(place: SyncPlace<T>): SyncFacts
  /** A session for one run. It sends nothing before its first call, and keeps what it read: tokens, ids, lists. */
  open(connection: SyncConnection<T>, outbound: Outbound): SyncSession
}

export interface SyncPlace<T extends SyncTag> {
  config: SyncConfig<T>
  destination: SyncDestination<T>
}

export interface SyncConnection<T extends SyncTag> extends SyncPlace<T> {
  /** The destination’s credential, opened. */
  credential: string
}

export interface SyncFacts {
  /**
   * The places that are written, as texts that name them completely: an app, one of its environments, a path in a region.
   * Two bindings with a place in common must not share a name. A binding whose places change begins with an empty ledger.
   * Rules about how values are used there (hosts, visibility) are no place.
   */
  places: readonly string[]
  /**
   * How values are used there, as a text: hosts, visibility, type. When it changes, the names that are unchanged are written
   * once more. Absent where there is nothing of the kind.
   */
  rules?: string
  /** Whether a removed name can be restored there. The ledger then keeps the name, so that only its owner restores it. */
  keepsDeleted?: true
  limits: SyncLimits
  /** What a push sets off there, in full sentences, for the person who decides on it. */
  effects: readonly string[]
}

export interface SyncLimits {
  name: NameRule
  /** Bytes of a value in UTF-8; null where no public document says. */
  valueBytesMax: number | null
  /** Whether an empty value can be stored. */
  emptyValues: boolean
  /** Bytes of all names and values together, of those that a destination holds as one. */
  totalBytesMax: number | null
  /** How many names a `push` takes; null where all must go in one, because each call has an effect there. */
  pushNamesMax: number | null
  /** Least time between two calls of `push`. */
  pushIntervalMs: number
}

export interface NameRule {
  /** What a name must match, with its prefix, after it was made canonical. */
  pattern: string
  /** The rule in words, for the reason of a refusal: `letters, digits and underscores`. */
  words: string
  /**
   * Names that the destination keeps for itself; one that ends with `*` stands for all that begin so. As the pattern, for
   * names with their prefix: what counts is what would stand there.
   */
  reserved: readonly string[]
  /**
   * How a name looks there: as it is, in upper case, or with hyphens for all but letters and digits. Names that become the
   * same one are refused together.
   */
  form: 'exact' | 'upper' | 'dashed'
  /** Whether names that differ only in their case are one name there. A name keeps the case in which it was made. */
  ignoresCase?: true
  /** Put before each name there. A list comes back without it, and without names that lack it. */
  prefix: string
}

export interface SyncSession {
  /**
   * Proves that the credential reads the destination, without writing. Refuses a destination that must not be written to. A
   * plan shows the notes.
   */
  verify(): Promise<{ notes: string[] }>
  /**
   * The places as the destination itself names them. Only destinations have it that go by several names, such as an app with a
   * name and an id: two bindings meet there whichever they use. `describe` gives the places as the binding names them.
   */
  places?(): Promise<readonly string[]>
  /** The names that the destination holds, in the rule’s form and without its prefix; system names are left out. */
  list(): Promise<SyncEntry[]>
  /**
   * One name as it is right now, or null where it is not there. Only destinations have it whose list is late or shows no
   * revisions. The runner asks for names that it owns and is about to remove or to make anew.
   */
  look?(name: string): Promise<SyncEntry | null>
  /**
   * Writes and removes. Names that it does not mention stay as they are, whatever that takes: where a call replaces all that
   * is there, the adapter reads right before it writes. A name to remove that is gone already counts as removed.
   */
  push(changes: SyncChanges): Promise<SyncOutcome>
}

export interface SyncEntry {
  name: string
  /** Changes whenever the value does, where the destination shows such a thing; may be derived from the value. The runner
   *  keeps a keyed digest of it, to tell whether somebody else wrote the name since. */
  revision: string | null
  /** Why the name cannot be written, where the destination shows it: it belongs to an integration, is of another type. */
  locked?: string
  /** Set where the name was deleted and can be restored. It is in use, but no program reads it. */
  deleted?: true
}

export interface SyncChanges {
  /** Names this time with the same value may come again after a failure: with the same run, a repetition writes once. */
  runId: string
  /**
   * `isNew` says that the name was not there when the list was read. If somebody has made it since, it is theirs: an adapter
   * that can see this leaves the name alone and reports it as foreign.
   */
  write: readonly { name: string; value: string; memo: string | null; isNew?: boolean }[]
  remove: readonly { name: string; memo: string | null }[]
}

export interface SyncOutcome {
  written: readonly SyncWritten[]
  removed: readonly string[]
  failed: readonly SyncFailed[]
  /** The other side asked for a pause: what is in none of the lists was not tried, or its answer was lost. */
  retryAfterMs?: number
  /** Names of a request whose answer was lost. They may be written or removed already. */
  mayBeDone?: readonly string[]
}

export interface SyncWritten {
  name: string
  revision: string | null
  /** What the adapter wants back with the next change of this name: ids, version numbers. At most 1,024 characters, kept as
   *  it is, so never anything derived from a value. */
  memo: string | null
}

export interface SyncFailed {
  name: string
  /** A full sentence that holds no value. */
  reason: string
  /** Set where the name is somebody else’s, and was left alone. */
  foreign?: true
  /** Worth another try in this run, not before so long. */
  retryAfterMs?: number
}
