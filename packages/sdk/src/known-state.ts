import type { Bytes } from '@skerry/crypto/base64url'
import {
  compareEnvironment,
  compareLayers,
  fingerprintOf,
  type KnownEnvironment,
  type KnownLayers,
  markGone,
  plain,
  type ShownEnvironment,
} from './known-state-compare.ts'
import {
  compareMeanings,
  type Entries,
  entriesOf,
  type Meanings,
  type NamedEnvironment,
} from './known-state-meanings.ts'
import { type Memory, type MemorySettings, openMemory } from './known-state-memory.ts'
import type { ShownOverrides } from './known-state-overrides.ts'
import { compareTargets, type ShownTarget, targetEntries } from './known-state-targets.ts'
import { isTold, type Rollback, RollbackError } from './rollback.ts'

/** The parts of a response that `check` compares with earlier responses. */
export interface Shown {
  /** The ids that belong to names such as `shop/production`, according to the response. */
  meanings?: Meanings
  /** The environments in the response, with their keys and secrets. */
  environments?: readonly ShownEnvironment[]
  /**
   * The lease targets in the response. Call `check` before you make a password for a target, so that you do not send
   * the password to an address that the server has changed.
   */
  targets?: readonly ShownTarget[]
  /** All personal overrides of the principal in one environment. */
  overrides?: ShownOverrides
  /**
   * A text of your choice that identifies the query, that is, a request for the secrets of one environment. Use the
   * same text for the same query each time. `check` then compares the layers in `environments` with the layers in the
   * last response to this query, but leaves out the layer of a branch. Set this text only if `environments` has all
   * layers of the query.
   */
  query?: string
}

/** The facts from earlier responses of the server that a client remembers. See `createKnownState`. */
export interface KnownState {
  /**
   * Compares a response with what the client remembers, and then remembers the response.
   *
   * @throws RollbackError if the response contradicts the remembered state, unless `onRollback` accepts it. After this
   *   error, the client does not remember the response.
   */
  check(shown: Shown): Promise<void>
  /**
   * Records that this client created this environment with this key (32 bytes). From now on, `check` reports a response
   * in which this name belongs to another environment.
   */
  made(environment: NamedEnvironment, key: Bytes): Promise<void>
  /** Records that this client registered this lease target with these settings. */
  madeTarget(target: ShownTarget): Promise<void>
  /**
   * Records that this client added `layer`, an environment of a group, to the layers of a query. `into` is the text
   * that you give to `check` in `query` for this query. `check` then does not report the new layer.
   */
  composed(layer: { environmentId: string; label: string }, into: string): Promise<void>
  /**
   * Records that this client wrote these secrets. If such a secret then comes from another layer than before, `check`
   * does not report this change.
   */
  wrote(environmentId: string, names: readonly string[]): Promise<void>
  /** Records that this client deleted these secrets. `check` then does not report them as missing. */
  deleted(environmentId: string, names: readonly string[]): Promise<void>
  /** Records that this client stored this personal override, or removed it (`revision` is null). */
  overrode(environmentId: string, override: { name: string; revision: number | null }): Promise<void>
  /**
   * Records that this client gave the environment this key (32 bytes). From now on, `check` reports every other key,
   * unless the signed directory contains it.
   */
  rekeyed(environmentId: string, key: Bytes): Promise<void>
}

/** The settings of `createKnownState`. */
export interface KnownStateSettings extends MemorySettings {
  /**
   * If false, `check` calls `onChanged` for a normal change, such as a new layer, and accepts the response. If true,
   * `check` treats a normal change as a rollback, and calls `onRollback`. Default: false.
   */
  strict?: boolean
  /**
   * Called if a response contradicts the remembered state (a rollback). To refuse the response, throw the error. If
   * your function returns, the response is accepted. Default: a function that throws the error.
   */
  onRollback?: (error: RollbackError) => void
  /**
   * If true, the client remembers a response that `onRollback` accepted, so `check` reports a difference once. If
   * false, the client continues to remember the earlier state. `check` then reports the same difference for each
   * further response, also in other clients with the same store. Default: true.
   */
  rememberRollbacks?: boolean
  /**
   * Called for changes that are normal, such as a new layer of an environment. `isTold` of `@skerry/sdk/rollback`
   * returns true for a normal change. `check` reports each change once, except a change of a personal override, which
   * it reports for each response.
   */
  onChanged?: (changes: readonly Rollback[]) => void
  /**
   * Called with the name of an environment (`label`), and the names of the secrets that are missing in this environment
   * since the last response. `check` reports each secret once. It throws no error for a missing secret, because people
   * delete secrets.
   */
  onGone?: (label: string, names: string[]) => void
}

const writtenMax = 10_000

/**
 * Creates the known state of a client: a memory of earlier responses, with which the client notices a hostile server.
 *
 * A ciphertext does not show whether it is the newest one. A wrapped key does not show who wrapped it. The server also
 * decides which environment belongs to a name. A hostile server can therefore answer with older values, or with a false
 * environment. A client notices such an answer if it remembers the right state from an earlier answer. One attack stays
 * possible: the server can send an old value, and claim in the history of the secret that somebody restored this value.
 * The client then accepts the old value, but people can see the false restore in the history.
 *
 * The known state contains names, fingerprints of keys and ciphertexts, and settings of lease targets. It contains no
 * values.
 *
 * @example
 * const knownState = createKnownState({ store: diskMemory(), baseUrl, principalId: tokenId })
 * const skerry = createSkerry({ baseUrl, token, knownState })
 */
export function createKnownState(settings: KnownStateSettings): KnownState {
  const { strict = false, onRollback = refuse, rememberRollbacks = true } = settings
  const { onChanged = () => {}, onGone = () => {} } = settings
  const memory = openMemory(settings)

  /** Changes the remembered state of an environment. */
  const update = async (environmentId: string, change: (before: KnownEnvironment) => Partial<KnownEnvironment>) => {
    const place = await memory.ownPlace('environment', environmentId)
    const before = (await memory.read<KnownEnvironment>(place)) ?? { secrets: {} }
    await memory.write(place, { ...before, ...change(before) })
  }
  const rekeyed: KnownState['rekeyed'] = async (environmentId, bytes) => {
    const key = await fingerprintOf(bytes)
    await update(environmentId, () => ({ key }))
  }

  return {
    rekeyed,
    async made(environment, key) {
      for (const [place, value] of await entriesOf(memory, environment)) await memory.write(place, value)
      await rekeyed(environment.environmentId, key)
    },
    async madeTarget(target) {
      for (const [place, settings] of await targetEntries(memory, target)) await memory.write(place, settings)
    },
    async composed(layer, into) {
      const place = await memory.ownPlace('query', into)
      const before = await memory.read<KnownLayers>(place)
      if (before) await memory.write(place, { ...before, layers: [layer, ...before.layers] })
    },
    async wrote(environmentId, names) {
      const added = ({ written = [] }: KnownEnvironment) => [...new Set([...written, ...names])].slice(-writtenMax)
      await update(environmentId, (before) => ({ written: added(before) }))
    },
    async deleted(environmentId, names) {
      await update(environmentId, ({ secrets }) => {
        const rows = plain(secrets)
        for (const name of names) if (rows[name]) rows[name] = { ...rows[name], gone: 'here' }
        return { secrets: rows }
      })
    },
    overrode: async (environmentId, override) => (await loadOverrides()).noteOverride(memory, environmentId, override),
    async check(shown) {
      const found: Rollback[] = []
      const meant = await compareMeanings(memory, shown.meanings ?? {}, found)
      const led = await compareTargets(memory, shown.targets ?? [], found)
      const own = shown.overrides
        ? await (await loadOverrides()).compareOverrides(memory, shown.overrides, found, strict)
        : []
      const { entries, gone } = await compareContents(memory, shown, found)
      const told = strict ? [] : found.filter(isTold)
      const refused = found.filter((change) => !told.includes(change))
      if (refused.length > 0) onRollback(new RollbackError(refused))
      if (told.length > 0) onChanged(told)
      if (refused.length > 0 && !rememberRollbacks) return
      for (const [place, value] of [...meant, ...led, ...own, ...entries]) await memory.write(place, value)
      for (const [label, names] of gone) if (names.length > 0) onGone(label, names)
    },
  }
}

/** Only a person has overrides, so a program with a token does not load this. */
const loadOverrides = () => import('./known-state-overrides.ts')

/** Compares environments, and the layers of a query. Returns the entries to remember. */
async function compareContents(memory: Memory, { environments = [], query }: Shown, found: Rollback[]) {
  const entries: Entries = []
  const gone: [label: string, names: string[]][] = []
  const known = new Map<string, KnownEnvironment>()
  const add = (place: string, before: unknown, after: unknown) => {
    if (JSON.stringify(before) !== JSON.stringify(after)) entries.push([place, after])
  }
  for (const environment of environments) {
    const place = await memory.ownPlace('environment', environment.environmentId)
    const before = (await memory.read<KnownEnvironment>(place)) ?? { secrets: {} }
    const after = await compareEnvironment(before, environment, found)
    gone.push([environment.label, markGone(after, environment.secrets)])
    known.set(environment.environmentId, after)
    add(place, before, after)
  }
  if (query !== undefined) {
    const place = await memory.ownPlace('query', query)
    const before = await memory.read<KnownLayers>(place)
    const layers = environments.filter(({ isBranch }) => isBranch !== true)
    add(
      place,
      before,
      compareLayers(before, layers, (id) => known.get(id), found),
    )
  }
  return { entries, gone }
}

function refuse(error: RollbackError): never {
  throw error
}
