import { type SetStateAction, useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { unlockPrompt } from './prompts.ts'
import { session } from './session.ts'
import type { Operations } from './worker/operations.ts'
import type { Answer, Question } from './worker/worker.ts'

// The page's side of the keyring. The private key and the environment keys exist only in a worker that cannot reach the
// network. Locking terminates the worker, and the keys are gone with it.

/** An error of the worker. `code` is the error code of @skerry/crypto. */
export class KeyringError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

type Name = keyof Operations
type Input<N extends Name> = Parameters<Operations[N]>[0]
type Output<N extends Name> = Awaited<ReturnType<Operations[N]>>

/** The keyring locks after this long without use. */
const idleMs = 15 * 60_000

/** When the keyring locks, the worker gets this long to seal unsaved edits before it is terminated. */
const sealingMaxMs = 30_000

let worker: Worker | undefined
let unlocked = false
let count = 0
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
const listeners = new Set<() => void>()
const keepers = new Set<() => Promise<unknown>>()

export const keyring = {
  /**
   * Runs an operation of the worker that needs the private key. If the keyring is locked, the person is asked to unlock
   * it first.
   *
   * @example const value = await keyring.call('openSecret', { wrappedDek, environmentId, name, ciphertext })
   */
  async call<N extends Name>(name: N, input: Input<N>): Promise<Output<N>> {
    if (!unlocked) await unlockPrompt.ask()
    return post(name, input)
  },

  /** Prompts to unlock the keyring if it is locked. */
  async unlock() {
    if (!unlocked) await unlockPrompt.ask()
  },

  /** Runs an operation of the worker that needs no private key, for example to create the first one. */
  callLocked: <N extends Name>(name: N, input: Input<N>): Promise<Output<N>> => post(name, input),

  /** Marks the keyring as unlocked. Call it after the worker has received the private key. */
  opened() {
    unlocked = true
    touch()
    tell()
    unlockPrompt.complete()
  },

  /**
   * Calls `keep` when the keyring locks, so that it can seal unsaved edits. The worker still runs the operations that
   * `keep` starts synchronously, before its first `await`.
   */
  beforeLock(keep: () => Promise<unknown>) {
    keepers.add(keep)
    return () => void keepers.delete(keep)
  },

  lock() {
    for (const { reject } of waiting.values()) reject(new KeyringError('locked', 'the keyring has been locked'))
    waiting.clear()
    const kept = unlocked ? [...keepers].map((keep) => keep()) : []
    const ending = worker
    worker = undefined
    unlocked = false
    tell()
    const end = () => ending?.terminate()
    if (kept.length === 0) return end()
    setTimeout(end, sealingMaxMs)
    void Promise.allSettled(kept).then(end)
  },
}

function post<N extends Name>(name: N, input: Input<N>): Promise<Output<N>> {
  worker ??= start()
  const id = ++count
  worker.postMessage({ id, name, input } satisfies Question)
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

function start(): Worker {
  const started = new Worker(new URL('./worker/worker.ts', import.meta.url), { type: 'module', name: 'keyring' })
  started.onmessage = ({ data }: MessageEvent<Answer>) => {
    const asker = waiting.get(data.id)
    waiting.delete(data.id)
    if ('error' in data) asker?.reject(new KeyringError(data.error.code, data.error.message))
    // The answer to this id has the type that `post` promised for it.
    else asker?.resolve(data.value as never)
  }
  // The worker's script failed to load, for example after an update of the server.
  started.onerror = () => keyring.lock()
  return started
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

// Timers stop while a computer sleeps, so the idle time is also checked when the page becomes visible again.
let touchedAtMs = Date.now()
const touch = () => {
  lockWhenIdle()
  touchedAtMs = Date.now()
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
session.onEnd(() => keyring.lock())
