import type { SyncConfig, SyncDestination, SyncTag } from '@skerry/contract/sync/providers'
import type { Outbound } from '../outbound.ts'

// An adapter knows one kind of destination and nothing of bindings, ledgers or runs. It never waits: the runner keeps
// the pace and retries. An adapter throws only `ProviderError`. A name that failed alone is in the outcome.

/** The module of one adapter. It is loaded when the first destination of its kind is used. */
export interface SyncProvider<T extends SyncTag> {
  /**
   * Describes a destination without a request to it. `syncProvider` has checked the place against its schemas and
   * rules.
   */
  describe(place: SyncPlace<T>): SyncFacts
  /**
   * Opens a session for one run. It sends nothing before its first call, and caches what it reads: tokens, ids, lists.
   */
  open(connection: SyncConnection<T>, outbound: Outbound): SyncSession
}

export interface SyncPlace<T extends SyncTag> {
  config: SyncConfig<T>
  destination: SyncDestination<T>
}

export interface SyncConnection<T extends SyncTag> extends SyncPlace<T> {
  /** The destination’s credential in plaintext. */
  credential: string
}

export interface SyncFacts {
  /**
   * Texts that completely name the places where values are written: an app, one of its environments, a path in a
   * region. Two bindings with a place in common must not share a name. A binding whose places change begins with an
   * empty ledger. Rules about how values are used there (hosts, visibility) are not a part of a place.
   */
  places: readonly string[]
  /**
   * How values are used there, as a text: hosts, visibility, type. When it changes, unchanged names are written again.
   * Absent if there are no such rules.
   */
  rules?: string
  /**
   * Whether a removed name can be restored there. The ledger then keeps the name, so that only its owner restores it.
   */
  keepsDeleted?: true
  limits: SyncLimits
  /** The effects of a push, in full sentences, for the person who decides on it. */
  effects: readonly string[]
}

export interface SyncLimits {
  name: NameRule
  /** The most bytes of a value in UTF-8. Null if no public document says it. */
  valueBytesMax: number | null
  /** Whether an empty value can be stored. */
  emptyValues: boolean
  /** The most bytes of all names and values together, for destinations that store them as one. Null for no limit. */
  totalBytesMax: number | null
  /** The most names in a `push`. Null if all names must go in one push, because each call has an effect there. */
  pushNamesMax: number | null
  /** The shortest time between two calls of `push`. */
  pushIntervalMs: number
}

export interface NameRule {
  /** The pattern that a name must match, with its prefix and in its canonical form. */
  pattern: string
  /** The rule in words, for the reason of a refusal: `letters, digits and underscores`. */
  words: string
  /**
   * Names that the destination reserves for itself. A name that ends with `*` reserves all names that begin like it. As
   * with the pattern, they are compared with names that include the prefix.
   */
  reserved: readonly string[]
  /**
   * The form of a name there: unchanged, in upper case, or with hyphens for all but letters and digits. Names that
   * become equal are refused together.
   */
  form: 'exact' | 'upper' | 'dashed'
  /** Whether the destination ignores case in names. A name keeps the case in which it was created. */
  ignoresCase?: true
  /** Added before each name there. `list` removes it, and leaves out names that lack it. */
  prefix: string
}

export interface SyncSession {
  /**
   * Proves that the credential can read the destination, without writing. Refuses a destination that must not be
   * written to. A plan shows the notes.
   */
  verify(): Promise<{ notes: string[] }>
  /**
   * The places as the destination itself names them. Only for destinations that can be named in several ways, such as
   * an app with a name and an id: two bindings get the same place, whichever name they use. `describe` uses the name in
   * the binding.
   */
  places?(): Promise<readonly string[]>
  /** The names at the destination, in the rule’s form and without its prefix. System names are left out. */
  list(): Promise<SyncEntry[]>
  /**
   * Reads one name now, or returns null if it does not exist. Only for destinations whose list is late or shows no
   * revisions. The runner calls it for names that it owns, before it removes them or creates them again.
   */
  look?(name: string): Promise<SyncEntry | null>
  /**
   * Writes and removes names. Other names must not change: if a call replaces all names, the adapter reads them right
   * before it writes. A name to remove that is already missing counts as removed.
   */
  push(changes: SyncChanges): Promise<SyncOutcome>
}

export interface SyncEntry {
  name: string
  /**
   * Changes whenever the value does, and may be derived from it. Null if the destination shows nothing like it. The
   * runner stores a keyed digest of it, to see whether somebody else wrote the name since.
   */
  revision: string | null
  /** Why the name cannot be written, if the destination shows it: it belongs to an integration, or has another type. */
  locked?: string
  /** Set if the name was deleted and can be restored. It is still reserved, but no program reads it. */
  deleted?: true
}

export interface SyncChanges {
  /**
   * Identifies the run. A name with the same value may be sent again after a failure. In one run, it is written only
   * once.
   */
  runId: string
  /**
   * `isNew` says that the name did not exist when the list was read. If somebody has created it since, it belongs to
   * them. An adapter that can see this leaves the name alone and reports it as foreign.
   */
  write: readonly { name: string; value: string; memo: string | null; isNew?: boolean }[]
  remove: readonly { name: string; memo: string | null }[]
}

export interface SyncOutcome {
  written: readonly SyncWritten[]
  removed: readonly string[]
  failed: readonly SyncFailed[]
  /** The destination asked for a pause. Names in none of the lists were not tried, or their answer was lost. */
  retryAfterMs?: number
  /** Names of a request whose answer was lost. They may be written or removed already. */
  mayBeDone?: readonly string[]
}

export interface SyncWritten {
  name: string
  revision: string | null
  /**
   * Data that the adapter gets back with the next change of this name: ids, version numbers. At most 1,024 characters.
   * It is stored in plaintext, so it must never be derived from a value.
   */
  memo: string | null
}

export interface SyncFailed {
  name: string
  /** A full sentence that contains no value. */
  reason: string
  /** Set if the name belongs to somebody else and was left alone. */
  foreign?: true
  /** Set if another try in this run makes sense, after this time. */
  retryAfterMs?: number
}
