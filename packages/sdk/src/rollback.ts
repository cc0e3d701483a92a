import { SkerryError } from './errors.ts'

/** What is there now and was otherwise before. */
export interface Rollback {
  kind: RollbackKind
  environmentId: string
  /** Of a layer or environment its name, `shop/production`; of a secret or lease target its name; of an organization its slug. */
  what: string
  /** Where a secret that moved came from, or what an environment was called before. */
  was?: string
  /** Where a secret that moved comes from now; what differs in a lease target. */
  now?: string
}

/**
 * - `environment_replaced`: a name means another environment. It was deleted and made anew, or the server swaps.
 * - `environment_renamed`: an environment that had another name. Slugs never change, so an honest server shows this never.
 * - `binding_changed`: the token is bound to another environment. An honest server shows this never.
 * - `organization_replaced`: a name means another organization.
 * - `target_changed`: a lease target has other settings. It was removed and added anew, or the server leads elsewhere.
 * - `layer_missing`: a layer that this query had is not there.
 * - `key_changed`: the environment has another key. After a re-key, or because the server put its own in.
 * - `value_came_back`: a ciphertext that had been replaced is current again, and nobody restored it.
 * - `version_went_back`: a secret's version is lower than it was.
 * - `layer_added`: a layer that this query never had. People compose groups, so it is told.
 * - `name_moved`: a secret comes from another layer than before. People override, so it is told.
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
  /** Another thing goes by a known name: nothing that is known of the old one holds the new one. */
  swaps?: true
  /** Told and not refused, unless the memory is strict. */
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

/** Whether something else goes by a known name, which no deployment is to go on with. */
export const isSwap = ({ kind }: Rollback): boolean => rows[kind].swaps === true

/** Whether people do this every now and then, so that it is told and not refused. */
export const isTold = ({ kind }: Rollback): boolean => rows[kind].told === true

/** `layer shared:production is new; API_KEY comes from ...` */
export const wordsOf = (changes: readonly Rollback[]): string =>
  changes.map((change) => rows[change.kind].words(change)).join('; ')

/** The server answers something older than, or other than, what this client has seen. Code `rollback`. */
export class RollbackError extends SkerryError {
  override readonly name = 'RollbackError'
  readonly changes: readonly Rollback[]

  constructor(changes: readonly Rollback[]) {
    super('rollback', wordsOf(changes))
    this.changes = changes
  }
}
