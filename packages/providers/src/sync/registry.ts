import type { SyncTag } from '@skerry/contract/sync-providers'
import type { SyncProvider } from './provider.ts'

/** Every sync adapter, loaded when it is first needed. */
const adapters = {
  'frontend-cloud': () => import('./frontend-cloud.ts'),
  'edge-workers': () => import('./edge-workers.ts'),
  'edge-pages': () => import('./edge-pages.ts'),
  'edge-secrets-store': () => import('./edge-secrets-store.ts'),
  'app-platform-a': () => import('./app-platform-a.ts'),
  'app-platform-b': () => import('./app-platform-b.ts'),
  'app-platform-c': () => import('./app-platform-c.ts'),
  'app-platform-d': () => import('./app-platform-d.ts'),
  'app-platform-e': () => import('./app-platform-e.ts'),
  'app-platform-f': () => import('./app-platform-f.ts'),
  'site-host': () => import('./site-host.ts'),
  'ai-agent-vaults': () => import('./ai-agent-vaults.ts'),
  'agent-platform': () => import('./agent-platform.ts'),
  'cloud-a-parameter-store': () => import('./cloud-a-parameter-store.ts'),
  'cloud-a-secrets-manager': () => import('./cloud-a-secrets-manager.ts'),
  'cloud-b-secret-manager': () => import('./cloud-b-secret-manager.ts'),
  'cloud-c-key-vault': () => import('./cloud-c-key-vault.ts'),
  'code-host-ci': () => import('./code-host-ci.ts'),
  'env-platform': () => import('./env-platform.ts'),
  'ml-spaces': () => import('./ml-spaces.ts'),
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
