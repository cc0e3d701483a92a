import type { Answer } from '@skerry/contract/endpoint'
import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { createClient } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'

type Session = Answer<typeof signIn.redeemLink>['session']

// Who is signed in. The token lives in this variable and nowhere else: no storage keeps it, and the cookie that renews it
// is out of reach of scripts.

/** Requests from here need no bearer, only the cookie. */
const open = createClient({ baseUrl: location.origin, userAgent: 'skerry-dashboard' })

let current: Session | null = null
let asked: Promise<boolean> | undefined
const endings = new Set<() => void>()
const channel = new BroadcastChannel('skerry-session')
channel.onmessage = ({ data }) => data === 'signed-out' && end()

const renewEarlyMs = 60_000

export const session = {
  token: () => current?.token,

  /** Whether someone is signed in; asks the server once, with the cookie. */
  ready: (): Promise<boolean> => {
    asked ??= session.renew().catch((error) => {
      asked = undefined
      throw error
    })
    return asked
  },

  /** Renews a token that is about to run out. */
  async fresh(): Promise<void> {
    if (current && Date.parse(current.expiresAt) - Date.now() < renewEarlyMs) await session.renew()
  },

  /**
   * A new token for the cookie, unless there is another by now than the one that is `spent`; false when nobody is signed
   * in. One tab at a time: the cookie is spent by each renewal, too, and a spent one ends the session.
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

  /** Calls back when the session ends, here or in another tab. */
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
