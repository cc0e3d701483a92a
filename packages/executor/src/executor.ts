import type { Upstreams } from '@skerry/proxy/upstream'
import type { Client } from '@skerry/sdk/client'
import type { Leases } from './browser/leases.ts'
import type { Config } from './config/config.ts'
import type { Flows } from './connect/flows.ts'
import type { Credentials } from './credentials.ts'
import type { Keys } from './keys/keys.ts'
import type { OAuthClients } from './oauth/client.ts'
import type { Refresher } from './oauth/refresh.ts'

/** The parts of a running executor. */
export interface Executor {
  config: Config
  /** Folder of the keys, the registration and the refreshes in progress. */
  stateFolder: string
  /** The origin at which browsers and the backend reach this executor. */
  origin: string
  /** The token that the backend has to send. */
  token: string
  /** The page to which people return, and its origin. Only this origin may send claim tokens. */
  connectUrl: string
  connectOrigin: string
  server: Client['vaultExecutor']
  /** Reads the current keys, because a rotation adds one while the executor runs. */
  keys: () => Promise<Keys>
  credentials: Credentials
  oauth: OAuthClients
  refresher: Refresher
  flows: Flows
  upstreams: Upstreams
  leases: Leases
  now: () => Date
  /** Warns the person who runs the executor. The message must never contain a credential, a body or a path. */
  warn: (message: string) => void
}
