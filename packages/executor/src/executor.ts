import type { Upstreams } from '@skerry/proxy/upstream'
import type { Client } from '@skerry/sdk/client'
import type { Leases } from './browser/leases.ts'
import type { Config } from './config/config.ts'
import type { Flows } from './connect/flows.ts'
import type { Credentials } from './credentials.ts'
import type { Keys } from './keys/keys.ts'
import type { OAuthClients } from './oauth/client.ts'
import type { Refresher } from './oauth/refresh.ts'

/** What every part works with. */
export interface Executor {
  config: Config
  /** Where keys, registration and what is under way are kept. */
  stateFolder: string
  /** At which browsers and the backend reach this executor. */
  origin: string
  /** What the backend has to send. */
  token: string
  /** The page to which people come back, and its origin, the only one that may send claim tokens. */
  connectUrl: string
  connectOrigin: string
  server: Client['vaultExecutor']
  /** As they are now: a rotation adds one while the executor runs. */
  keys: () => Promise<Keys>
  credentials: Credentials
  oauth: OAuthClients
  refresher: Refresher
  flows: Flows
  upstreams: Upstreams
  leases: Leases
  now: () => Date
  /** For the person who runs the executor. Never told a credential, a body or a path. */
  warn: (message: string) => void
}
