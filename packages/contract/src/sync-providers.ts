import { type Static, type TObject, Type } from 'typebox'
import { Strict } from './schema.ts'

// What crosses the wire for each sync destination: a connection’s config and a binding’s destination. Every description is
// a sentence that clients show beside the field they ask for. An adapter of the same tag stands in
// packages/providers/src/sync.

interface Row {
  /** What people call it. */
  label: string
  config: TObject
  /** An object, or a union of them that a `kind` tells apart. */
  destination: TObject | ReturnType<typeof Type.Union>
  /** What the credential is, for whoever is asked for it. */
  credential: string
}

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
} satisfies Record<string, Row>

export type SyncTag = keyof typeof syncProviders
export type SyncConfig<T extends SyncTag> = Static<(typeof syncProviders)[T]['config']>
export type SyncDestination<T extends SyncTag> = Static<(typeof syncProviders)[T]['destination']>
