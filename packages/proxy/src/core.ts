import type { Activity } from './activity.ts'
import type { Approvals } from './approvals.ts'
import type { Config } from './config/config.ts'
import type { Policies } from './policies.ts'
import type { Ratchet } from './ratchet.ts'
import type { Searches } from './response.ts'
import type { Secrets } from './secrets.ts'
import type { Sessions } from './sessions.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Upstreams } from './upstream.ts'

/** The parts that every listener of the proxy uses. */
export interface Core {
  config: Config
  sessions: Sessions
  policies: Policies
  secrets: Secrets
  ratchet: Ratchet
  /** Null if no request needs approval. */
  approvals: Approvals | null
  /** Null if no activity is reported. */
  activity: Activity | null
  /** Null if no telemetry is exported. */
  telemetry: Telemetry | null
  upstreams: Upstreams
  searches: Searches
  /** Warns the operator of the proxy. The message must never contain a value, a token or a path. */
  warn: (message: string) => void
}
