import type { Answer } from '@skerry/contract/endpoint'
import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { createClient } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'

type Session = Answer<typeof signIn.redeemLink>['session']

// The session of the signed-in person. The token lives only in this variable and in no storage. Scripts cannot read the
// cookie that renews it.

/** A client for sign-in requests, which send the cookie and no bearer token. */
const open = createClient({ baseUrl: location.origin, userAgent: 'skerry-dashboard' })

let current: Session | null = null
let asked: Promise<boolean> | undefined
const endings = new Set<() => void>()
const channel = new BroadcastChannel('skerry-session')
channel.onmessage = ({ data }) => data === 'signed-out' && end()

const renewEarlyMs = 60_000

export const session = {
  token: () => current?.token,

  /** Whether someone is signed in. Asks the server once, with the cookie. */
  ready: (): Promise<boolean> => {
    asked ??= session.renew().catch((error) => {
      asked = undefined
      throw error
    })
    return asked
  },

  /** Renews the token if it expires within a minute. */
  async fresh(): Promise<void> {
    if (current && Date.parse(current.expiresAt) - Date.now() < renewEarlyMs) await session.renew()
  },

  /**
   * Gets a new token with the cookie, unless the token was already replaced since `spent`. Returns false if nobody is
   * signed in. A lock lets one tab renew at a time, because each renewal replaces the cookie, and a used cookie ends
   * the session.
   */
  renew: (spent = current?.token): Promise<boolean> =>
    navigator.locks.request('skerry-session', () => (current && current.token !== spent ? true : renewNow())),

  begin(signedIn: Session): void {
    current = signedIn
    asked = Promise.resolve(true)
  },

  async signOut(): Promise<void> {
    await open.signIn.signOut()
    channel.postMessage('signed-out')
    end()
  },

  /** Calls `listener` when the session ends, in this tab or another. */
  onEnd(listener: () => void): void {
    endings.add(listener)
  },
}

async function renewNow(): Promise<boolean> {
  try {
    const { session: renewed } = await open.signIn.refresh()
    session.begin(renewed)
    return true
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    end()
    return false
  }
}

function end() {
  const was = current
  current = null
  asked = Promise.resolve(false)
  if (was) for (const listener of endings) listener()
}
