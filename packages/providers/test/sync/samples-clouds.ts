import { generateKeyPairSync } from 'node:crypto'
import type { SyncTag } from '@skerry/contract/sync/providers'
import type { SyncConnection } from '../../src/sync/provider.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** The public key of the service account in the samples. */
export const serviceAccountPublicKey = publicKey.export({ type: 'spki', format: 'pem' }) as string

const serviceAccountKey = {
  type: 'service_account',
  client_email: 'skerry@shop-1.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  private_key_id: 'k1',
  token_uri: 'https://attacker.example/token',
}

/** A destination of each kind, as the documentation shows it and the fakes use it. */
export const cloudSamples = {
  'cloud-a-secrets-manager': {
    config: { provider: 'cloud-a-secrets-manager', region: 'eu-central-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
    destination: { provider: 'cloud-a-secrets-manager', layout: 'secret-per-name', pathPrefix: 'shop/production/' },
    credential: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  'cloud-a-parameter-store': {
    config: { provider: 'cloud-a-parameter-store', region: 'eu-central-1', accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
    destination: {
      provider: 'cloud-a-parameter-store',
      path: '/shop/production/',
      type: 'SecureString',
      tier: 'Standard',
    },
    credential: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  'cloud-b-secret-manager': {
    config: { provider: 'cloud-b-secret-manager', projectId: 'shop-1' },
    destination: {
      provider: 'cloud-b-secret-manager',
      layout: 'secret-per-name',
      idPrefix: 'production-',
      replication: 'user-managed',
      locations: ['europe-west1', 'europe-west4'],
    },
    credential: JSON.stringify(serviceAccountKey),
  },
  'cloud-c-key-vault': {
    config: {
      provider: 'cloud-c-key-vault',
      tenantId: '0b2f1a5e-1f3c-4c39-9d51-3f7d3a1c2b4d',
      clientId: '5d7c9a10-8a52-4a7e-b0c4-6f2f8c1f9e33',
    },
    destination: { provider: 'cloud-c-key-vault', vault: 'shop-production', prefix: 'shop-' },
    credential: 'abc8Q~clientSecretOfTheApplication',
  },
  'code-host-ci': {
    config: { provider: 'code-host-ci' },
    destination: {
      provider: 'code-host-ci',
      kind: 'environment',
      owner: 'acme',
      repo: 'shop',
      environment: 'production/eu west',
    },
    credential: 'github_pat_11AAAAAAA0exampleexample',
  },
  'env-platform': {
    config: { provider: 'env-platform' },
    destination: { provider: 'env-platform', kind: 'environment', environmentId: 'ZDBlgwe4nq' },
    credential: 'bunnyshell-access-token',
  },
  'agent-platform': {
    config: {
      provider: 'agent-platform',
      region: 'eu',
      tenantId: '7f1f54f5-43e0-4d0a-8a64-4b3b8ecb5a3d',
    },
    destination: { provider: 'agent-platform', deploymentId: '2b8f6f60-5d3e-4a6c-9d0e-0f6b3a0a7c11' },
    credential: 'lsv2_sk_example',
  },
  'ml-spaces': {
    config: { provider: 'ml-spaces' },
    destination: { provider: 'ml-spaces', repoId: 'acme/shop-demo' },
    credential: 'hf_exampleexampleexample',
  },
  'ai-agent-vaults': {
    config: { provider: 'ai-agent-vaults' },
    destination: {
      provider: 'ai-agent-vaults',
      vaultId: 'vlt_011CZkZDLs7fYzm1hXNPeRjv',
      allowedHosts: ['api.example.com', '*.example.net'],
    },
    credential: 'sk-ant-api03-example',
  },
} satisfies { [T in SyncTag]?: SyncConnection<T> }
