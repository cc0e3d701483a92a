import type { SyncTag } from '@skerry/contract/sync-providers'
import type { SyncFake } from './conformance.ts'

/** Starts the strict fake of each destination, loaded when it is asked for. Each holds the sample of its tag. */
// biome-ignore format: a table
export const syncFakes: { [T in SyncTag]: () => Promise<SyncFake<T>> } = {
  'agent-platform': async () => (await import('./agent-platform-fake.ts')).deploymentFake(),
  'ai-agent-vaults': async () => (await import('./ai-agent-vaults-fake.ts')).vaultFake(),
  'app-platform-a': async () => (await import('./app-platform-a-fake.ts')).railwayFake(),
  'app-platform-b': async () => { const { renderFake, service } = await import('./app-platform-b-fake.ts'); return renderFake(service) },
  'app-platform-c': async () => (await import('./app-platform-c-fake.ts')).flyFake(),
  'app-platform-d': async () => (await import('./app-platform-d-fake.ts')).northflankFake(),
  'app-platform-e': async () => { const { app, appsFake } = await import('./app-platform-e-fake.ts'); return appsFake(app) },
  'app-platform-f': async () => (await import('./app-platform-f-fake.ts')).herokuFake(),
  'cloud-a-parameter-store': async () => { const { connection, parametersFake } = await import('./cloud-a-parameter-store-fake.ts'); return parametersFake(connection) },
  'cloud-a-secrets-manager': async () => { const { connection, storeFake } = await import('./cloud-a-secrets-manager-fake.ts'); return storeFake(connection) },
  'cloud-b-secret-manager': async () => { const { connection, projectFake } = await import('./cloud-b-secret-manager-fake.ts'); return projectFake(connection) },
  'cloud-c-key-vault': async () => (await import('./cloud-c-key-vault-fake.ts')).keyVaultFake(),
  'code-host-ci': async () => { const { environment, roots, secretsFake } = await import('./code-host-ci-fake.ts'); return secretsFake(environment, roots.environment) },
  'edge-pages': async () => (await import('./edge-pages-fake.ts')).pagesFake(),
  'edge-secrets-store': async () => (await import('./edge-secrets-store-fake.ts')).storeFake(),
  'edge-workers': async () => (await import('./edge-workers-fake.ts')).workersFake(),
  'env-platform': async () => { const { environment, variablesFake } = await import('./env-platform-fake.ts'); return variablesFake(environment) },
  'frontend-cloud': async () => (await import('./frontend-cloud-fake.ts')).vercelFake(),
  'ml-spaces': async () => (await import('./ml-spaces-fake.ts')).spaceFake(),
  'site-host': async () => (await import('./site-host-fake.ts')).netlifyFake(),
}
