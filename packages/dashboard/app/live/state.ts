import type { LiveChange, Presence } from '@skerry/sdk/live'
import { useSyncExternalStore } from 'react'

/** A change by somebody else, which a page marks for some seconds. */
export interface RecentChange extends LiveChange {
  /** When the mark ends, in epoch milliseconds. */
  untilMs: number
}

interface LiveState {
  /** False while the stream is interrupted. */
  isLive: boolean
  people: ReadonlyMap<string, Presence['people']>
  recent: readonly RecentChange[]
}

const nothing: LiveState = { isLive: true, people: new Map(), recent: [] }

/** The time for which a page shows who has changed something. */
const shownMs = 8000

let state = nothing
const listeners = new Set<() => void>()

function set(more: Partial<LiveState>): void {
  state = { ...state, ...more }
  for (const listener of listeners) listener()
}

export const liveState = {
  reset: () => set(nothing),
  setLive: (isLive: boolean) => isLive !== state.isLive && set({ isLive }),
  isLive: () => state.isLive,
  recent: () => state.recent,
  people: () => [...state.people].map(([applicationId, people]): Presence => ({ applicationId, people })),
  setPeople({ applicationId, people }: Presence): void {
    set({ people: new Map(state.people).set(applicationId, people) })
  },
  forgetPeople: () => set({ people: new Map() }),
  note(change: LiveChange): void {
    set({ recent: [...state.recent, { ...change, untilMs: Date.now() + shownMs }] })
    setTimeout(() => set({ recent: state.recent.filter(({ untilMs }) => untilMs > Date.now()) }), shownMs + 50)
  },
}

/** Reads a part of the live state, and renders again when it changes. */
export function useLive<T>(pick: (live: LiveState) => T): T {
  return useSyncExternalStore(subscribe, () => pick(state))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
