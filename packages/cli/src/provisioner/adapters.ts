import { serveAdapters } from '@skerry/providers/children/serve'
import { openOutbound } from './outbound.ts'

// An adapter child of the provisioner. What a target sends is parsed here, so that it cannot end the provisioner.

/** The hosts and ports of --allow. */
export interface DoorSettings {
  allowed?: readonly string[] | undefined
}

serveAdapters(({ allowed }: DoorSettings) => openOutbound(allowed))
