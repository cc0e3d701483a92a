import { SkerryError } from './errors.ts'

/** One difference between an answer and the known state. */
export interface Rollback {
  kind: RollbackKind
  environmentId: string
  /** The name of the layer or environment (`shop/production`), secret or lease target; the slug of the organization. */
  what: string
  /** The layer that a moved secret came from, or the former name of an environment. */
  was?: string
  /** The layer that a moved secret comes from now, or the settings that differ in a lease target. */
  now?: string
}

/**
 * - `environment_replaced`: a name stands for another environment. It was deleted and created anew, or the server
 *   swapped it.
 * - `environment_renamed`: an environment had another name before. Slugs never change, so an honest server never shows
 *   this.
 * - `binding_changed`: the token is bound to another environment. An honest server never shows this.
 * - `organization_replaced`: a name stands for another organization.
 * - `target_changed`: a lease target has other settings. It was removed and added anew, or the server points elsewhere.
 * - `layer_missing`: a layer that this query had before is missing.
 * - `key_changed`: the environment has another key, after a re-key or because the server substituted its own.
 * - `value_came_back`: a ciphertext that had been replaced is current again, and nobody restored it.
 * - `version_went_back`: a secret's version is lower than it was.
 * - `layer_added`: a layer that this query never had. People compose groups, so it is reported and not refused.
 * - `name_moved`: a secret comes from another layer than before. People override secrets, so it is reported and not
 *   refused.
 */
export type RollbackKind =
  | 'environment_replaced'
  | 'environment_renamed'
  | 'binding_changed'
  | 'organization_replaced'
  | 'target_changed'
  | 'layer_missing'
  | 'key_changed'
  | 'value_came_back'
  | 'version_went_back'
  | 'layer_added'
  | 'name_moved'

interface Row {
  /** A known name stands for another object. What is known about the old object says nothing about the new one. */
  swaps?: true
  /** Reported and not refused, unless the known state is strict. */
  told?: true
  words: (change: Rollback) => string
}

const rows: Record<RollbackKind, Row> = {
  environment_replaced: { swaps: true, words: ({ what }) => `${what} means another environment than before` },
  environment_renamed: { swaps: true, words: ({ what, was }) => `${what} means the environment that was ${was}` },
  binding_changed: { swaps: true, words: () => 'this token is bound to another environment than before' },
  organization_replaced: { swaps: true, words: ({ what }) => `${what} means another organization than before` },
  target_changed: {
    swaps: true,
    words: ({ what, now }) => `lease target ${what} has other settings than before: ${now}`,
  },
  layer_missing: { words: ({ what }) => `layer ${what} is missing` },
  key_changed: { words: ({ what }) => `the key of ${what} is another one` },
  value_came_back: { words: ({ what }) => `an earlier value of ${what} came back` },
  version_went_back: { words: ({ what }) => `the version of ${what} went back` },
  layer_added: { told: true, words: ({ what }) => `layer ${what} is new` },
  name_moved: { told: true, words: ({ what, was, now }) => `${what} comes from ${now}, and came from ${was} before` },
}

/** Whether a known name stands for another object. A deployment must then stop. */
export const isSwap = ({ kind }: Rollback): boolean => rows[kind].swaps === true

/** Whether people make this change regularly, so that it is reported and not refused. */
export const isTold = ({ kind }: Rollback): boolean => rows[kind].told === true

/** Describes changes: `layer shared:production is new; API_KEY comes from ...` */
export const wordsOf = (changes: readonly Rollback[]): string =>
  changes.map((change) => rows[change.kind].words(change)).join('; ')

/** The server's answer is older than what this client has seen, or contradicts it. Code `rollback`. */
export class RollbackError extends SkerryError {
  override readonly name = 'RollbackError'
  readonly changes: readonly Rollback[]

  constructor(changes: readonly Rollback[]) {
    super('rollback', wordsOf(changes))
    this.changes = changes
  }
}
