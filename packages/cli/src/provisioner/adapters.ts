import { serveAdapters } from '@skerry/providers/children/serve'
import { openOutbound } from './outbound.ts'

// A child process in which the provisioner runs adapters. It parses the answers of targets, so that a bad answer cannot
// end the provisioner.

/** The hosts and ports of --allow. */
export interface DoorSettings {
  allowed?: readonly string[] | undefined
}

serveAdapters(({ allowed }: DoorSettings) => openOutbound(allowed))
