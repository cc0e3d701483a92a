import { type Bundle, bundleBytesMax, bundleEntries, bundleName, bundleOutcome, changedBundle } from './bundle.ts'
import { oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncLimits, SyncSession } from './provider.ts'
import { mergedMemos } from './version-memo.ts'

// What the secret managers of the clouds have in common: a binding writes either a secret for each name, behind a prefix, or one
// secret that holds all names as a JSON object.

/** The calls of one of them. An id is what the manager calls a secret, with the prefix. */
export interface SecretManager {
  /** The ids that begin so. */
  ids(prefix: string): Promise<string[]>
  /** Empty where there is no such secret. */
  bundle(id: string, how: 'to read' | 'to write'): Promise<Bundle>
  /** Makes a value the current one, and answers what is to be remembered of it. */
  write(id: string, value: string, told: Told): Promise<string | null>
  remove(id: string): Promise<void>
}

export interface Told {
  runId: string
  /** What it was told to remember before. */
  memo: string | null
  /** Values within the value, which no message may repeat. */
  values: readonly string[]
}

/** Where the names of a binding are: behind a prefix, or in the secret of this id. */
export type Layout = { prefix: string } | { bundleId: string }

/** The limits of a layout, by those of a secret for each name. */
export const layoutLimits = (layout: Layout, perName: SyncLimits): SyncLimits =>
  'prefix' in layout
    ? perName
    : { ...perName, name: bundleName, emptyValues: true, totalBytesMax: bundleBytesMax, pushNamesMax: null }

export const layoutPlace = (account: string, layout: Layout): string =>
  'prefix' in layout ? `${account}/prefix/${layout.prefix}` : `${account}/secret/${layout.bundleId}`

export function managedSession(layout: Layout, manager: SecretManager): Pick<SyncSession, 'list' | 'push'> {
  if ('bundleId' in layout)
    return {
      list: async () => bundleEntries(await manager.bundle(layout.bundleId, 'to read')),
      push: (changes) => pushBundle(layout.bundleId, manager, changes),
    }
  const { prefix } = layout
  return {
    list: async () => (await manager.ids(prefix)).map((id) => ({ name: id.slice(prefix.length), revision: null })),
    push: (changes) =>
      oneByOne(changes, {
        async write({ name, value, memo }) {
          const kept = await manager.write(prefix + name, value, { runId: changes.runId, memo, values: [] })
          return { revision: null, memo: kept }
        },
        remove: ({ name }) => manager.remove(prefix + name),
      }),
  }
}

async function pushBundle(id: string, manager: SecretManager, changes: SyncChanges) {
  const next = changedBundle(await manager.bundle(id, 'to write'), changes)
  if (next === null) return bundleOutcome(changes)
  const memo = mergedMemos([...changes.write, ...changes.remove].map((change) => change.memo))
  const { runId } = changes
  return bundleOutcome(changes, await manager.write(id, next.text, { runId, memo, values: next.values }))
}
