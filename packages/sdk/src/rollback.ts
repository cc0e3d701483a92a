import { SkerryError } from './errors.ts'

/** One difference between a response and the known state. */
export interface Rollback {
  kind: RollbackKind
  environmentId: string
  /**
   * The name of the changed object: of the layer or environment (`shop/production`), secret or lease target. For an
   * organization, its slug.
   */
  what: string
  /** For a secret from another layer, the layer from before. For a renamed environment, the name from before. */
  was?: string
  /** For a secret from another layer, the present layer. For a lease target, the settings that differ. */
  now?: string
}

/**
 * - `environment_replaced`: a name stands for another environment. The environment was deleted and created anew, or the
 *   server swapped it.
 * - `environment_renamed`: an environment had another name before. Slugs never change, so an honest server never shows
 *   this.
 * - `binding_changed`: the token is bound to another environment. An honest server never shows this.
 * - `organization_replaced`: a name stands for another organization.
 * - `target_changed`: a lease target has other settings. The target was removed and added anew, or the server points
 *   elsewhere.
 * - `layer_missing`: a layer that this query had before is missing.
 * - `key_changed`: the environment has another key, after a re-key or because the server substituted its own.
 * - `value_came_back`: a ciphertext that had been replaced is current again, and nobody restored it.
 * - `version_went_back`: a secret's version is lower than it was.
 * - `override_missing`: a personal override that this client saw is missing. The override was removed elsewhere, or the
 *   server leaves it out. The loss is reported each time until somebody accepts it, and not refused.
 * - `override_went_back`: a personal override has an earlier revision. The override was removed and stored again
 *   elsewhere, or the server sends an earlier one. The change is reported each time until somebody accepts it, and not
 *   refused.
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
  | 'override_missing'
  | 'override_went_back'
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
  environment_replaced: { swaps: true, words: ({ what }) => `${what} is a different environment than before` },
  environment_renamed: {
    swaps: true,
    words: ({ what, was }) => `${what} is now the environment that was called ${was}`,
  },
  binding_changed: { swaps: true, words: () => 'this token is bound to a different environment than before' },
  organization_replaced: { swaps: true, words: ({ what }) => `${what} is a different organization than before` },
  target_changed: {
    swaps: true,
    words: ({ what, now }) => `lease target ${what} has different settings than before: ${now}`,
  },
  layer_missing: { words: ({ what }) => `${what} is missing` },
  key_changed: { words: ({ what }) => `the key of ${what} was replaced` },
  value_came_back: { words: ({ what }) => `the server returned an earlier value of ${what}` },
  version_went_back: { words: ({ what }) => `the server returned an earlier version of ${what}` },
  override_missing: { told: true, words: ({ what }) => `your personal override of ${what} is missing` },
  override_went_back: {
    told: true,
    words: ({ what }) => `the server returned an earlier personal override of ${what}`,
  },
  layer_added: { told: true, words: ({ what }) => `${what} was added since the last run` },
  name_moved: { told: true, words: ({ what, was, now }) => `${what} now comes from ${now} (before: ${was})` },
}

/** Returns true if a known name now means another object. A deployment must then stop. */
export const isSwap = ({ kind }: Rollback): boolean => rows[kind].swaps === true

/** Returns true if people make this change regularly. Such a change is reported and not refused. */
export const isTold = ({ kind }: Rollback): boolean => rows[kind].told === true

/** Describes changes: `shared:production was added since the last run; API_KEY comes from ...` */
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
