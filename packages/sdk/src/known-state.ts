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
import { compareTargets, type ShownTarget, targetEntries } from './known-state-targets.ts'
import { isTold, type Rollback, RollbackError } from './rollback.ts'

/** What an answer shows. */
export interface Shown {
  meanings?: Meanings
  environments?: readonly ShownEnvironment[]
  /** Lease targets, before a password is made for them. */
  targets?: readonly ShownTarget[]
  /** Says that the environments are all layers of one query but for the branch's, and names it in one spelling. */
  query?: string
}

export interface KnownState {
  /**
   * Compares what an answer shows with what was seen before, and remembers it.
   *
   * @throws RollbackError, and then nothing is remembered.
   */
  check(shown: Shown): Promise<void>
  /** This client has made this environment with this key (32 bytes): its name means it from now on. */
  made(environment: NamedEnvironment, key: Bytes): Promise<void>
  /** This client has registered this lease target with these settings. */
  madeTarget(target: ShownTarget): Promise<void>
  /** This client has composed this environment of a group into the environment of an application. */
  composed(layer: { environmentId: string; label: string }, into: string): Promise<void>
  /** This client has written these secrets: that they come from there is no news. */
  wrote(environmentId: string, names: readonly string[]): Promise<void>
  /** This client has deleted these secrets: that they are gone is no news. */
  deleted(environmentId: string, names: readonly string[]): Promise<void>
  /** This client has given the environment this key (32 bytes): another one is news, this one is none. */
  rekeyed(environmentId: string, key: Bytes): Promise<void>
}

export interface KnownStateSettings extends MemorySettings {
  /** Refuses what is otherwise told to `onChanged`. */
  strict?: boolean
  /** Asked about what went back. Returning accepts it, and it is remembered as the new state; throws it unless given. */
  onRollback?: (error: RollbackError) => void
  /** Told, once, of what people change every now and then: a layer that is new, a secret from another layer. */
  onChanged?: (changes: readonly Rollback[]) => void
  /** Told of names that are no longer there, once; deleting is what people do, so it is never refused. */
  onGone?: (label: string, names: string[]) => void
}

const writtenMax = 10_000

/**
 * A client's memory. Ciphertext does not say that it is the newest, a wrapped key does not say who wrapped it, and which
 * environment a name means is the server's word, so a hostile server can answer with what was true once, or with an
 * environment of its own making. What this client has seen before, it cannot take back unnoticed. Nothing helps at the
 * first sight, and a server that enters a restore into the history can bring a value back in the open.
 *
 * Kept are fingerprints of keys and ciphertexts, names, and settings of lease targets; no values.
 *
 * @example
 * const knownState = createKnownState({ store: diskMemory(), baseUrl, principalId: tokenId })
 * const skerry = createSkerry({ baseUrl, token, knownState })
 */
export function createKnownState(settings: KnownStateSettings): KnownState {
  const { strict = false, onRollback = refuse, onChanged = () => {}, onGone = () => {} } = settings
  const memory = openMemory(settings)

  /** Changes what is remembered of an environment. */
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
    async check(shown) {
      const found: Rollback[] = []
      const meant = await compareMeanings(memory, shown.meanings ?? {}, found)
      const led = await compareTargets(memory, shown.targets ?? [], found)
      const { entries, gone } = await compareContents(memory, shown, found)
      const told = strict ? [] : found.filter(isTold)
      const refused = found.filter((change) => !told.includes(change))
      if (refused.length > 0) onRollback(new RollbackError(refused))
      for (const [place, value] of [...meant, ...led, ...entries]) await memory.write(place, value)
      if (told.length > 0) onChanged(told)
      for (const [label, names] of gone) if (names.length > 0) onGone(label, names)
    },
  }
}

/** Environments, and the layers that they are -> what is to be remembered. */
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
