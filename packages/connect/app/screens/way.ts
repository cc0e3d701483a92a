import type { Flow } from '../flow.ts'
import type { ConnectSession } from '../server.ts'

/** What a form for one slot is given. */
export interface WayProps {
  session: ConnectSession
  flow: Flow
}
