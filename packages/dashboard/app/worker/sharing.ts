import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { idleMs, type KeyringNews, lockNameOf, openKeyringChannel, sealingMaxMs } from '../keyring-tabs.ts'
import { heldKey } from './held.ts'

// A shared worker serves all tabs of the person who unlocked it. The keys never leave it: a tab that joins gets answers,
// as the tab that unlocked it does.

/** The connection to a tab. A worker of one tab alone is its own connection. */
export interface Port {
  postMessage: (message: unknown) => void
  onmessage: ((event: MessageEvent) => void) | null
}

const tabs = new Set<Port>()
let isFirst = true
/** The person whose tabs may join. Null while the keyring is locked. */
let person: string | null = null
let isEnding = false
let unlist = () => {}
let touchedAtMs = Date.now()

/** Lets the tab that started the worker ask it. Each later tab must join. */
export function admitFirst(port: Port): void {
  if (isFirst) tabs.add(port)
  isFirst = false
}

export const isAdmitted = (port: Port): boolean => tabs.has(port)

/** The questions of a tab about the worker itself. */
export const controls = {
  /** Lets other tabs of this person join. */
  share: (_: Port, { userId }: { userId: string }): Promise<void> => {
    if (isEnding || person !== null) return Promise.resolve()
    person = userId
    listen()
    return new Promise((listed) => {
      void navigator.locks.request(lockNameOf(userId, (self as Window).name), () => {
        listed()
        return new Promise<void>((resolve) => {
          unlist = resolve
          if (isEnding) resolve()
        })
      })
    })
  },

  /** Lets a tab ask, if its person has unlocked the keyring. Returns the public key, so that the tab can check it. */
  join: async (port: Port, { userId }: { userId: string }): Promise<string | null> => {
    if (userId !== person || isIdle()) return null
    tabs.add(port)
    return publicKeyJwkOf(heldKey())
  },

  /** The keyring locks. No tab may join any more, and each may still seal what it has. */
  end: async (_: Port, __: object): Promise<void> => end(),

  /** A tab needs the worker no longer. Without a tab, the worker ends, and the keys with it. */
  leave: async (port: Port, _: object): Promise<void> => {
    tabs.delete(port)
    if (tabs.size === 0) close()
  },
}

export type Controls = {
  [N in keyof typeof controls]: (input: Parameters<(typeof controls)[N]>[1]) => ReturnType<(typeof controls)[N]>
}

function end(): void {
  if (isEnding) return
  isEnding = true
  person = null
  unlist()
  setTimeout(close, sealingMaxMs)
}

const isIdle = () => Date.now() - touchedAtMs >= idleMs

/** Hears of use and locking in all tabs. The browser may stop the timers of tabs, so the worker has one of its own. */
function listen(): void {
  touchedAtMs = Date.now()
  const channel = openKeyringChannel()
  channel.onmessage = ({ data }: MessageEvent<KeyringNews>) => {
    if (data.type === 'touched') touchedAtMs = Date.now()
    if (data.type === 'locked' || (data.type === 'person' && data.userId !== person)) end()
  }
  setInterval(() => {
    if (!isIdle() || isEnding) return
    channel.postMessage({ type: 'locked' } satisfies KeyringNews)
    end()
  }, 10_000)
}
