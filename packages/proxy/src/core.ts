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

/** What every plane works with. */
export interface Core {
  config: Config
  sessions: Sessions
  policies: Policies
  secrets: Secrets
  ratchet: Ratchet
  /** Null where nobody is to be asked. */
  approvals: Approvals | null
  /** Null where nothing is reported. */
  activity: Activity | null
  /** Null where nobody watches. */
  telemetry: Telemetry | null
  upstreams: Upstreams
  searches: Searches
  /** For the operator of the proxy. Never told a value, a token or a path. */
  warn: (message: string) => void
}
