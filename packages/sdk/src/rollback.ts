import { SkerryError } from './errors.ts'

/** One difference between a response and the known state. */
export interface Rollback {
  kind: RollbackKind
  /** The id of the environment. Empty if the difference is about an organization or a lease target. */
  environmentId: string
  /** The name of the environment, secret, personal override, lease target or organization that differs. */
  what: string
  /**
   * For `name_moved`, the name of the layer from which the secret came before. For `environment_renamed`, the earlier
   * name of the environment.
   */
  was?: string
  /**
   * For `name_moved`, the name of the layer from which the secret comes now. For `target_changed`, a text that names
   * the settings that differ.
   */
  now?: string
}

/**
 * The kind of a difference. "Query" means a request for the secrets of an environment, with or without a branch.
 *
 * - `environment_replaced`: a name belongs to another environment than before. Somebody deleted the environment and
 *   created a new environment of the same name, or the server shows a false environment.
 * - `environment_renamed`: an environment has another name, such as `shop/production`, than before. Such a name
 *   consists of slugs, which never change, so an honest server never shows this.
 * - `binding_changed`: the token is bound to another environment than before. An honest server never shows this.
 * - `organization_replaced`: a name belongs to another organization than before.
 * - `target_changed`: a lease target has other settings than before. Somebody removed the target and added a new target
 *   of the same name, or the server shows false settings.
 * - `layer_missing`: the last response to this query had a layer that is now missing. Somebody removed a group from the
 *   environment, or the server leaves the layer out.
 * - `key_changed`: the environment has another key than before. Somebody re-keyed the environment, or the server put in
 *   its own key.
 * - `value_came_back`: an old ciphertext of a secret is current again, although nobody restored it.
 * - `version_went_back`: the version of a secret is lower than before.
 * - `override_missing`: a personal override that this client saw is missing. The person removed it on another machine,
 *   or the server leaves it out. The client reports this for each response, until the client stores or removes the
 *   override.
 * - `override_went_back`: a personal override has a lower revision than before. The person removed it and stored it
 *   again on another machine, or the server sends an earlier override. The client reports this for each response, until
 *   the client stores or removes the override.
 * - `layer_added`: a response to this query has a new layer. For example, somebody added a group to the environment.
 * - `name_moved`: a secret comes from another layer than before. For example, somebody stored a secret of the same name
 *   in a later layer.
 *
 * For `override_missing`, `override_went_back`, `layer_added` and `name_moved`, the client reports the difference to
 * `onChanged`, and accepts the response. With the setting `strict` of the known state, the client refuses the response.
 * For all other kinds, the client refuses the response, unless your function `onRollback` accepts it.
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

/**
 * Returns true if a name that the client remembers now belongs to another object, or if a lease target has other
 * settings. Do not use the response then, because it can be about another environment, organization or lease target
 * than you expect.
 */
export const isSwap = ({ kind }: Rollback): boolean => rows[kind].swaps === true

/**
 * Returns true for a change that people often make themselves, such as a new layer. The client reports such a change to
 * `onChanged`, and accepts the response. With the setting `strict` of the known state, the client refuses the response.
 */
export const isTold = ({ kind }: Rollback): boolean => rows[kind].told === true

/**
 * Returns a text that describes the changes, for example `shared:production was added since the last run`. Several
 * changes are separated with `; `.
 */
export const wordsOf = (changes: readonly Rollback[]): string =>
  changes.map((change) => rows[change.kind].words(change)).join('; ')

/**
 * A response of the server contradicts an earlier response to this client. For example, it contains an older value. The
 * code is `rollback`. `changes` lists the differences.
 */
export class RollbackError extends SkerryError {
  override readonly name = 'RollbackError'
  readonly changes: readonly Rollback[]

  constructor(changes: readonly Rollback[]) {
    super('rollback', wordsOf(changes))
    this.changes = changes
  }
}
