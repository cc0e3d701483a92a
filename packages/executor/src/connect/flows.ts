import { randomBytes } from 'node:crypto'
import type { Begun } from '../oauth/client.ts'

/** One sign-in at a provider, from the Connect page and back to it. */
interface Flow extends Omit<Begun, 'authorizationUrl'> {
  sessionId: string
  providerId: string
  startedAtMs: number
}

interface Returned {
  flow: Flow
  /** The address to which the provider sent the browser back. */
  url: URL
}

/** The sign-ins in progress. They are in memory, so after a restart the person starts again. */
export interface Flows {
  begin(flow: Omit<Flow, 'startedAtMs'>): void
  /** Called when the browser comes back -> a handle with which the page proves that; undefined for an unknown state. */
  returned(state: string, url: URL): string | undefined
  /** Works once for each handle. */
  take(handle: string): Returned | undefined
}

const ttlMs = 10 * 60_000
const flowsMax = 10_000

export function openFlows(now: () => Date): Flows {
  const begun = new Map<string, Flow>()
  const back = new Map<string, Returned>()
  const isAlive = ({ startedAtMs }: Flow) => now().getTime() - startedAtMs < ttlMs
  const forget = () => {
    for (const [state, flow] of begun) if (!isAlive(flow) || begun.size > flowsMax) begun.delete(state)
    for (const [handle, { flow }] of back) if (!isAlive(flow) || back.size > flowsMax) back.delete(handle)
  }
  return {
    begin(flow) {
      begun.set(flow.state, { ...flow, startedAtMs: now().getTime() })
      forget()
    },
    returned(state, url) {
      const flow = begun.get(state)
      begun.delete(state)
      if (!flow || !isAlive(flow)) return undefined
      const handle = randomBytes(32).toString('base64url')
      back.set(handle, { flow, url })
      forget()
      return handle
    },
    take(handle) {
      const found = back.get(handle)
      back.delete(handle)
      return found && isAlive(found.flow) ? found : undefined
    },
  }
}
