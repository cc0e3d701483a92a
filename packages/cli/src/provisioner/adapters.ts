import { serveAdapters } from '@skerry/providers/children/serve'
import { openOutside } from './outside.ts'

// An adapter child of the provisioner. What a target sends is parsed here, so that it cannot end the provisioner.

/** The hosts and ports of --allow. */
export interface DoorSettings {
  allowed?: readonly string[] | undefined
}

serveAdapters(({ allowed }: DoorSettings) => openOutside(allowed))
