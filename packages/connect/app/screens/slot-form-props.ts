import type { Flow } from '../flow.ts'
import type { ConnectSession } from '../server.ts'

/** What a form for one slot is given. */
export interface SlotFormProps {
  session: ConnectSession
  flow: Flow
}
