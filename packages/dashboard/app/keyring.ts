import { type SetStateAction, useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { unlockPrompt } from './prompts.ts'
import { session } from './session.ts'
import type { Operations } from './worker/operations.ts'
import type { Answer, Question } from './worker/worker.ts'

// The page's side of the keyring. The private key and every environment's key exist in a worker that cannot reach the
// network; locking ends that worker, and all of it is gone.

/** What the worker refused: `code` as @skerry/crypto names it. */
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

/** The keyring locks after being unused for this long. */
const idleMs = 15 * 60_000

/** How long the worker may take, when the keyring locks, to seal edits that are to be kept. */
const sealingMaxMs = 30_000

let worker: Worker | undefined
let unlocked = false
let count = 0
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
const listeners = new Set<() => void>()
const keepers = new Set<() => Promise<unknown>>()

export const keyring = {
  /**
   * Has the worker do something with the private key. A locked keyring asks to be unlocked first.
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

  /** Has the worker do something that needs no key of the person, as a first key has to be made. */
  callLocked: <N extends Name>(name: N, input: Input<N>): Promise<Output<N>> => post(name, input),

  /** After the worker has been given the private key. */
  opened() {
    unlocked = true
    touch()
    tell()
    unlockPrompt.complete()
  },

  /**
   * Has `keep` called when the keyring locks. What it asks of the worker at once, before it waits for anything, is still
   * done: so that what was typed can be kept sealed.
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
    // What answers this id is of the type that was promised for it.
    else asker?.resolve(data.value as never)
  }
  // The worker's script could not be loaded, for example after an update of the server.
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

/** Whether the keyring is unlocked. */
export const useUnlocked = () => useSyncExternalStore(subscribe, () => unlocked)

/**
 * State that holds plaintext: it returns to `empty` when the keyring locks, and ends with its component. Decrypted values
 * live here and nowhere else, neither in Query's cache nor in storage nor in the address. The last part says whether
 * locking cleared it, until it is set again, so that the page can tell the person.
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

/** The error of a field that locking has cleared. */
export const clearedMessage = 'The keyring locked, and what stood here was forgotten. Type it again.'

// Timers stand still while a machine sleeps, so the clock is looked at again when it wakes.
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
setInterval(lockWhenIdle, 10_000)
session.onEnd(() => keyring.lock())
