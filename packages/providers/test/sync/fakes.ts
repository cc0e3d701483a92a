import type { SyncTag } from '@skerry/contract/sync/providers'
import type { SyncFake } from './conformance.ts'

/** Starts the strict fake of each destination. A fake is loaded when it is needed, and uses the sample of its tag. */
// biome-ignore format: a table
export const syncFakes: { [T in SyncTag]: () => Promise<SyncFake<T>> } = {
  'agent-platform': async () => (await import('./langsmith-fake.ts')).deploymentFake(),
  'ai-agent-vaults': async () => (await import('./claude-managed-agents-fake.ts')).vaultFake(),
  'app-platform-a': async () => (await import('./railway-fake.ts')).railwayFake(),
  'app-platform-b': async () => { const { renderFake, service } = await import('./render-fake.ts'); return renderFake(service) },
  'app-platform-c': async () => (await import('./fly-io-fake.ts')).flyFake(),
  'app-platform-d': async () => (await import('./northflank-fake.ts')).northflankFake(),
  'app-platform-e': async () => { const { app, appsFake } = await import('./digitalocean-fake.ts'); return appsFake(app) },
  'app-platform-f': async () => (await import('./heroku-fake.ts')).herokuFake(),
  'cloud-a-parameter-store': async () => { const { connection, parametersFake } = await import('./aws-parameter-store-fake.ts'); return parametersFake(connection) },
  'cloud-a-secrets-manager': async () => { const { connection, storeFake } = await import('./aws-secrets-manager-fake.ts'); return storeFake(connection) },
  'cloud-b-secret-manager': async () => { const { connection, projectFake } = await import('./google-secret-manager-fake.ts'); return projectFake(connection) },
  'cloud-c-key-vault': async () => (await import('./azure-key-vault-fake.ts')).keyVaultFake(),
  'code-host-ci': async () => { const { environment, roots, secretsFake } = await import('./github-actions-fake.ts'); return secretsFake(environment, roots.environment) },
  'edge-pages': async () => (await import('./cloudflare-pages-fake.ts')).pagesFake(),
  'edge-secrets-store': async () => (await import('./cloudflare-secrets-store-fake.ts')).storeFake(),
  'edge-workers': async () => (await import('./cloudflare-workers-fake.ts')).workersFake(),
  'env-platform': async () => { const { environment, variablesFake } = await import('./bunnyshell-fake.ts'); return variablesFake(environment) },
  'frontend-cloud': async () => (await import('./vercel-fake.ts')).vercelFake(),
  'ml-spaces': async () => (await import('./hugging-face-spaces-fake.ts')).spaceFake(),
  'site-host': async () => (await import('./netlify-fake.ts')).netlifyFake(),
}
