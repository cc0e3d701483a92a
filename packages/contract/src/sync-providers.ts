import { type Static, Type } from 'typebox'
import { Strict } from './schema.ts'
import { syncClouds } from './sync-clouds.ts'
import { syncHosts } from './sync-hosts.ts'
import { syncPlatforms } from './sync-platforms.ts'
import type { SyncRow } from './sync-row.ts'

// What crosses the wire for each sync destination: a connection’s config and a binding’s destination. Every description is
// a sentence that clients show beside the field they ask for. An adapter of the same tag stands in
// packages/providers/src/sync.

const AppPlatformC = Strict({ provider: Type.Literal('app-platform-c') })
const AppPlatformCDestination = Strict({
  provider: Type.Literal('app-platform-c'),
  appName: Type.String({
    pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
    description: 'Name of the Fly.io app whose secrets are written.',
  }),
})

/** Every sync destination, by tag. */
export const syncProviders = {
  'app-platform-c': {
    label: 'Fly.io',
    config: AppPlatformC,
    destination: AppPlatformCDestination,
    credential: 'Access token that may set secrets of the app, as `fly tokens create deploy` prints it.',
  },
  ...syncPlatforms,
  ...syncClouds,
  ...syncHosts,
} satisfies Record<string, SyncRow>

export type SyncTag = keyof typeof syncProviders
export type SyncConfig<T extends SyncTag> = Static<(typeof syncProviders)[T]['config']>
export type SyncDestination<T extends SyncTag> = Static<(typeof syncProviders)[T]['destination']>
