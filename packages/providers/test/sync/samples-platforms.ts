import type { SyncTag } from '@skerry/contract/sync/providers'
import type { SyncConnection } from '../../src/sync/provider.ts'

const accountId = '0123456789abcdef0123456789abcdef'
const id = (last: string) => `11111111-2222-4333-8444-55555555555${last}`

/** A complete connection for each platform. Its fake accepts it, and the table in the docs is generated from it. */
export const platformSamples = {
  'frontend-cloud': {
    config: { provider: 'frontend-cloud', teamId: 'team_abc' },
    destination: {
      provider: 'frontend-cloud',
      projectId: 'prj_shop',
      targets: ['production', 'preview', 'development'],
    },
    credential: 'vercel-access-token-0001',
  },
  'edge-workers': {
    config: { provider: 'edge-workers', accountId },
    destination: { provider: 'edge-workers', scriptName: 'shop' },
    credential: 'cloudflare-api-token-0001',
  },
  'edge-pages': {
    config: { provider: 'edge-pages', accountId },
    destination: { provider: 'edge-pages', projectName: 'shop', environments: ['production', 'preview'] },
    credential: 'cloudflare-api-token-0002',
  },
  'edge-secrets-store': {
    config: { provider: 'edge-secrets-store', accountId },
    destination: { provider: 'edge-secrets-store', storeId: 'store1', scopes: ['workers'] },
    credential: 'cloudflare-api-token-0003',
  },
  'app-platform-a': {
    config: { provider: 'app-platform-a' },
    destination: { provider: 'app-platform-a', projectId: id('1'), environmentId: id('2'), serviceId: id('3') },
    credential: 'railway-account-token-0001',
  },
  'app-platform-b': {
    config: { provider: 'app-platform-b' },
    destination: { provider: 'app-platform-b', kind: 'service', serviceId: 'srv-shop' },
    credential: 'rnd_render-api-key-0001',
  },
  'app-platform-c': {
    config: { provider: 'app-platform-c' },
    destination: { provider: 'app-platform-c', appName: 'shop' },
    credential: 'FlyV1 fm2_lJPECAAAAAAAAAAB',
  },
  'app-platform-d': {
    config: { provider: 'app-platform-d' },
    destination: { provider: 'app-platform-d', projectId: 'shop', secretGroupId: 'shop-secrets' },
    credential: 'northflank-token-0001',
  },
  'app-platform-e': {
    config: { provider: 'app-platform-e' },
    destination: { provider: 'app-platform-e', kind: 'app', appId: id('4') },
    credential: 'dop_v1_token-0001',
  },
  'app-platform-f': {
    config: { provider: 'app-platform-f' },
    destination: { provider: 'app-platform-f', app: 'shop' },
    credential: 'HRKU-heroku-token-0001',
  },
  'site-host': {
    config: { provider: 'site-host', accountId: 'acme' },
    destination: { provider: 'site-host', siteId: id('5'), contexts: ['production', 'deploy-preview'] },
    credential: 'nfp_netlify-token-0001',
  },
} satisfies { [T in SyncTag]?: SyncConnection<T> }
