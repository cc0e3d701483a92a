import { serveAdapters } from '@skerry/providers/children/serve'
import { openOutbound } from './outbound.ts'

/** The server's settings that the address guard of a child needs. */
export interface DoorSettings {
  privateTargets: readonly string[]
  providerOrigins: Readonly<Record<string, string>>
}

/** Runs in an adapter child. */
export const serve = (): void =>
  serveAdapters((settings: DoorSettings) => openOutbound(settings, { now: () => new Date() }))
