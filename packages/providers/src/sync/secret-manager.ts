import { type Bundle, bundleBytesMax, bundleEntries, bundleName, bundleOutcome, changedBundle } from './bundle.ts'
import { oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncLimits, SyncOutcome, SyncSession, SyncWritten } from './provider.ts'
import { withoutTaken } from './pushing.ts'
import { mergedMemos } from './version-memo.ts'

// Code that the secret managers of the clouds share. A binding writes either one secret for each name, with a prefix,
// or one secret that contains all names as a JSON object.

/** The calls of one secret manager. An id is the manager's name for a secret, with the prefix. */
export interface SecretManager {
  /** The secrets whose ids begin with the prefix. */
  secrets(prefix: string): Promise<Listed[]>
  /** Reads a secret now, with the revision of its current value. Null if it does not exist. */
  look(id: string): Promise<{ revision: string | null; deleted: boolean } | null>
  /** Empty if there is no such secret. */
  bundle(id: string): Promise<Bundle>
  /** Makes a value the current one. */
  write(id: string, value: string, told: Told): Promise<Omit<SyncWritten, 'name'>>
  remove(id: string): Promise<void>
}

export interface Listed {
  id: string
  deleted: boolean
}

export interface Told {
  runId: string
  /** Whether there must be no secret with the id yet. */
  isNew: boolean
  /** The memo of the previous write. */
  memo: string | null
  /** Values inside the value, which no error may repeat. */
  values: readonly string[]
}

/** Where the names of a binding are: after a prefix, or in the secret with this id. */
export type Layout = { prefix: string } | { bundleId: string }

/** The limits of a layout, derived from those of one secret for each name. */
export const layoutLimits = (layout: Layout, perName: SyncLimits): SyncLimits =>
  'prefix' in layout
    ? perName
    : { ...perName, name: bundleName, emptyValues: true, totalBytesMax: bundleBytesMax, pushNamesMax: null }

export const layoutPlace = (account: string, layout: Layout): string =>
  'prefix' in layout ? `${account}/prefix/${layout.prefix}` : `${account}/secret/${layout.bundleId}`

const deletedMark = (deleted: boolean) => (deleted ? { deleted: true as const } : {})

export function managedSession(layout: Layout, manager: SecretManager): Pick<SyncSession, 'list' | 'look' | 'push'> {
  if ('bundleId' in layout)
    return {
      list: async () => bundleEntries(await manager.bundle(layout.bundleId)),
      push: (changes) => pushBundle(layout.bundleId, manager, changes),
    }
  const { prefix } = layout
  return {
    async list() {
      const all = await manager.secrets(prefix)
      return all.map(({ id, deleted }) => ({ name: id.slice(prefix.length), revision: null, ...deletedMark(deleted) }))
    },
    async look(name) {
      const found = await manager.look(prefix + name)
      return found && { name, revision: found.revision, ...deletedMark(found.deleted) }
    },
    push: (changes) =>
      oneByOne(changes, {
        write: ({ name, value, memo, isNew = false }) =>
          manager.write(prefix + name, value, { runId: changes.runId, memo, isNew, values: [] }),
        remove: ({ name }) => manager.remove(prefix + name),
      }),
  }
}

async function pushBundle(id: string, manager: SecretManager, given: SyncChanges): Promise<SyncOutcome> {
  const bundle = await manager.bundle(id)
  const { changes, failed } = withoutTaken(given, (name) => bundle.has(name))
  const next = changedBundle(bundle, changes)
  if (next === null) return { ...bundleOutcome(changes), failed }
  const memo = mergedMemos([...changes.write, ...changes.remove].map((change) => change.memo))
  const written = await manager.write(id, next.text, { runId: changes.runId, memo, isNew: false, values: next.values })
  return { ...bundleOutcome(changes, written.memo), failed }
}
