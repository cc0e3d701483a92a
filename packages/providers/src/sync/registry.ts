import type { SyncTag } from '@skerry/contract/sync/providers'
import { checkPlace } from './checks.ts'
import type { SyncProvider } from './provider.ts'

/** Every sync adapter. Each is loaded when it is first needed. */
const adapters = {
  'frontend-cloud': () => import('./vercel.ts'),
  'edge-workers': () => import('./cloudflare-workers.ts'),
  'edge-pages': () => import('./cloudflare-pages.ts'),
  'edge-secrets-store': () => import('./cloudflare-secrets-store.ts'),
  'app-platform-a': () => import('./railway.ts'),
  'app-platform-b': () => import('./render.ts'),
  'app-platform-c': () => import('./fly-io.ts'),
  'app-platform-d': () => import('./northflank.ts'),
  'app-platform-e': () => import('./digitalocean.ts'),
  'app-platform-f': () => import('./heroku.ts'),
  'site-host': () => import('./netlify.ts'),
  'ai-agent-vaults': () => import('./claude-managed-agents.ts'),
  'agent-platform': () => import('./langsmith.ts'),
  'cloud-a-parameter-store': () => import('./aws-parameter-store.ts'),
  'cloud-a-secrets-manager': () => import('./aws-secrets-manager.ts'),
  'cloud-b-secret-manager': () => import('./google-secret-manager.ts'),
  'cloud-c-key-vault': () => import('./azure-key-vault.ts'),
  'code-host-ci': () => import('./github-actions.ts'),
  'env-platform': () => import('./bunnyshell.ts'),
  'ml-spaces': () => import('./hugging-face-spaces.ts'),
} satisfies { [T in SyncTag]: () => Promise<SyncProvider<T>> }

/**
 * Loads the adapter for a kind of destination. `describe` and `open` refuse a place that its schemas or rules refuse,
 * so that no adapter has to check it.
 *
 * @example
 * const config = { provider: 'app-platform-c' } as const
 * const destination = { ...config, appName: 'shop' }
 * await (await syncProvider('app-platform-c')).open({ config, destination, credential: 'fo1_...' }, outbound)
 */
export async function syncProvider<T extends SyncTag>(tag: T): Promise<SyncProvider<T>> {
  const load = adapters[tag] as unknown as () => Promise<SyncProvider<T>>
  const adapter = await load()
  return {
    describe(place) {
      checkPlace(place)
      return adapter.describe(place)
    },
    open(connection, outbound) {
      checkPlace(connection)
      return adapter.open(connection, outbound)
    },
  }
}
