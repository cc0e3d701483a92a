import type { Flow } from '../flow.ts'
import type { ConnectSession } from '../server.ts'

/** The properties of a form for one slot. */
export interface SlotFormProps {
  session: ConnectSession
  flow: Flow
}
