import { type SetStateAction, useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { isSameKey } from './account/same-key.ts'
import { findUnlocked, idleMs, type KeyringNews, openKeyringChannel, sealingMaxMs, whenLocked } from './keyring-tabs.ts'
import { type Connection, connect, type Input, KeyringError, type Name, type Output } from './keyring-worker.ts'
import { unlockPrompt } from './prompts.ts'
import { session } from './session.ts'

// The page's side of the keyring. The private key and the environment keys exist only in a worker that cannot reach the
// network. All tabs of a person share the worker that the person unlocked. Locking ends it, and the keys are gone with it.

export { KeyringError }

interface Person {
  id: string
  /** The person's public key on the server. Null before they have a keyring. */
  publicKeyJwk: string | null
}

let worker: Connection | undefined
let unlocked = false
let person: Person | undefined
/** Resolves when it is known whether another tab has unlocked the keyring. */
let joining: Promise<void> = Promise.resolve()
const listeners = new Set<() => void>()
const keepers = new Set<() => Promise<unknown>>()
const channel = openKeyringChannel()
const tellTabs = (news: KeyringNews) => channel.postMessage(news)

export const keyring = {
  /**
   * Runs an operation of the worker that needs the private key. If the keyring is locked, the person is asked to unlock
   * it first.
   *
   * @example const value = await keyring.call('openSecret', { wrappedDek, environmentId, name, ciphertext })
   */
  async call<N extends Name>(name: N, input: Input<N>): Promise<Output<N>> {
    if (!unlocked) await keyring.unlock()
    return post(name, input)
  },

  /** Prompts to unlock the keyring if it is locked. */
  async unlock() {
    if (!unlocked) await joining
    if (!unlocked) await unlockPrompt.ask()
  },

  /** Runs an operation of the worker that needs no private key, for example to create the first one. */
  callLocked: <N extends Name>(name: N, input: Input<N>): Promise<Output<N>> => post(name, input),

  /** Marks the keyring as unlocked, in all tabs of the person. Call it after the worker has received the private key. */
  opened() {
    showOpened()
    const { name, post } = worker ?? {}
    if (!name || !post || !person) return
    const { id: userId } = person
    post('share', { userId }).then(() => tellTabs({ type: 'opened', userId, worker: name }), ignore)
  },

  /**
   * Says who is signed in. If they unlocked the keyring in another tab, it is unlocked here, too. The keyring of anybody
   * else locks.
   */
  belongTo(signedIn: Person) {
    if (person?.id === signedIn.id && person.publicKeyJwk === signedIn.publicKeyJwk) return
    if (person && person.id !== signedIn.id) lockHere()
    person = signedIn
    tellTabs({ type: 'person', userId: signedIn.id })
    joining = findUnlocked(signedIn.id).then(join).catch(ignore)
  },

  /**
   * Calls `keep` when the keyring locks, so that it can seal unsaved edits. The worker still runs the operations that
   * `keep` starts synchronously, before its first `await`.
   */
  beforeLock(keep: () => Promise<unknown>) {
    keepers.add(keep)
    return () => void keepers.delete(keep)
  },

  /** Locks the keyring in all tabs. */
  lock() {
    lockHere()
    tellTabs({ type: 'locked' })
  },
}

const ignore = () => {}

const post = <N extends Name>(name: N, input: Input<N>): Promise<Output<N>> => {
  worker ??= connect(crypto.randomUUID(), lockHere)
  return worker.post(name, input)
}

function showOpened() {
  unlocked = true
  touchedAtMs = Date.now()
  touch()
  tell()
  unlockPrompt.complete()
}

function lockHere() {
  worker?.reject(new KeyringError('locked', 'the keyring has been locked'))
  const kept = unlocked ? [...keepers].map((keep) => keep()) : []
  const ending = worker
  worker = undefined
  unlocked = false
  tell()
  ending?.post('end', {}).catch(ignore)
  const leave = () => ending?.leave()
  if (kept.length === 0) return leave()
  setTimeout(leave, sealingMaxMs)
  void Promise.allSettled(kept).then(leave)
}

/** Uses the worker that another tab has unlocked, if it still is unlocked and has this person's key. */
async function join(name: string | undefined): Promise<void> {
  if (name === undefined || unlocked || !person) return
  const { id: userId, publicKeyJwk } = person
  const joined = connect(name, ignore)
  const locking = whenLocked(userId, name)
  const opened = await Promise.race([joined.post('join', { userId }), locking])
  const isOwn = opened && publicKeyJwk !== null && isSameKey(opened, publicKeyJwk)
  if (!isOwn || unlocked || person?.id !== userId) return joined.leave()
  worker?.reject(new KeyringError('locked', 'another tab has unlocked the keyring'))
  worker?.leave()
  worker = joined
  showOpened()
  void locking.then(() => worker === joined && lockHere())
}

channel.onmessage = ({ data }: MessageEvent<KeyringNews>) => {
  if (data.type === 'touched') touchedAtMs = Date.now()
  else if (data.type === 'locked' && unlocked) lockHere()
  else if (data.type === 'opened' && data.userId === person?.id) joining = join(data.worker).catch(ignore)
  else if (data.type === 'person' && person && data.userId !== person.id) lockHere()
}

function tell() {
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The state of the keyring at this moment, for code that runs after an `await`. */
export const isUnlocked = (): boolean => unlocked

/** Whether the keyring is unlocked. */
export const useUnlocked = () => useSyncExternalStore(subscribe, () => unlocked)

const minutesLeft = () => Math.max(1, Math.ceil((idleMs - (Date.now() - touchedAtMs)) / 60_000))

/** The whole minutes after which an unlocked keyring locks, if nobody uses the page. */
export const useMinutesLeft = () => useSyncExternalStore(onTick, minutesLeft)

const tickers = new Set<() => void>()
const onTick = (listener: () => void) => {
  tickers.add(listener)
  return () => void tickers.delete(listener)
}

/**
 * State for plaintext. It returns to `empty` when the keyring locks, and ends with its component. Decrypted values live
 * only here: not in Query's cache, not in storage, not in the address. The third element says whether locking cleared
 * the state. It stays true until the state is set again, so that the page can say so.
 *
 * @example const [shown, setShown] = usePlaintext<string | null>(null)
 */
export function usePlaintext<T>(empty: T) {
  const [first] = useState<T>(empty)
  const [state, setState] = useState({ value: first, wasCleared: false })
  const set = useCallback(
    (to: SetStateAction<T>) =>
      setState(({ value }) => ({ value: to instanceof Function ? to(value) : to, wasCleared: false })),
    [],
  )
  useEffect(
    () =>
      subscribe(() => {
        if (!unlocked) setState((was) => (was.value === first ? was : { value: first, wasCleared: true }))
      }),
    [first],
  )
  return [state.value, set, state.wasCleared] as const
}

/** The error shown at a field that locking has cleared. */
export const clearedMessage = 'The keyring was locked, so this field was cleared. Type the text again.'

/** Tabs tell each other of use this often. */
const tellEveryMs = 1000

// Timers stop while a computer sleeps, so the idle time is also checked when the page becomes visible again.
let touchedAtMs = Date.now()
let toldAtMs = 0
const touch = () => {
  lockWhenIdle()
  touchedAtMs = Date.now()
  if (!unlocked || touchedAtMs - toldAtMs < tellEveryMs) return
  toldAtMs = touchedAtMs
  tellTabs({ type: 'touched' })
}
const lockWhenIdle = () => {
  if (unlocked && Date.now() - touchedAtMs >= idleMs) keyring.lock()
}
for (const event of ['pointerdown', 'keydown', 'wheel'])
  addEventListener(event, touch, { passive: true, capture: true })
addEventListener('visibilitychange', lockWhenIdle)
setInterval(() => {
  lockWhenIdle()
  for (const ticker of tickers) ticker()
}, 10_000)
// A page that the browser keeps to show it again has left the worker, so its keyring is locked.
addEventListener('pagehide', ({ persisted }) => {
  worker?.leave()
  if (!persisted) return
  worker = undefined
  unlocked = false
  tell()
})
session.onEnd(() => {
  keyring.lock()
  person = undefined
})
