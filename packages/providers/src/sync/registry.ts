import type { SyncTag } from '@skerry/contract/sync-providers'
import type { SyncProvider } from './provider.ts'

/** Every sync adapter, loaded when it is first needed. */
const adapters = {
  'app-platform-c': () => import('./app-platform-c.ts'),
} satisfies { [T in SyncTag]: () => Promise<SyncProvider<T>> }

/**
 * The adapter of a destination’s kind.
 *
 * @example (await syncProvider('app-platform-c')).open({ config, destination, credential }, outside)
 */
export async function syncProvider<T extends SyncTag>(tag: T): Promise<SyncProvider<T>> {
  const load = adapters[tag] as unknown as () => Promise<SyncProvider<T>>
  return await load()
}
