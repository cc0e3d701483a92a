import type { Static } from 'typebox'
import { syncClouds } from './clouds.ts'
import { syncHosts } from './hosts.ts'
import { syncPlatforms } from './platforms.ts'
import type { SyncRow } from './row.ts'

// The wire format of each sync destination: a connection’s config and a binding’s destination. Every description is a
// sentence that clients show beside the field. The adapter for each tag is in packages/providers/src/sync.

/** Every sync destination, by tag. */
export const syncProviders = {
  ...syncPlatforms,
  ...syncClouds,
  ...syncHosts,
} satisfies Record<string, SyncRow>

export type SyncTag = keyof typeof syncProviders
export type SyncConfig<T extends SyncTag> = Static<(typeof syncProviders)[T]['config']>
export type SyncDestination<T extends SyncTag> = Static<(typeof syncProviders)[T]['destination']>
