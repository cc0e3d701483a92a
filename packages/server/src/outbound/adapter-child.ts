import { serveAdapters } from '@skerry/providers/children/serve'
import { openOutbound } from './outbound.ts'

/** What the guard of a child needs of the server's settings. */
export interface DoorSettings {
  privateTargets: readonly string[]
  providerOrigins: Readonly<Record<string, string>>
}

/** Runs in an adapter child. */
export const serve = (): void =>
  serveAdapters((settings: DoorSettings) => openOutbound(settings, { now: () => new Date() }))
