import { EventEmitter } from 'node:events'
import type { Context } from '../../http/context.ts'

/** Events have the id of the object that changed: a lease, a target or a provisioner's token. */
const bell = new EventEmitter().setMaxListeners(0)

/** A time limit counts from the arrival of the request. */
export const secondsAfter = (now: string, seconds: number): Date => new Date(Date.parse(now) + seconds * 1000)

/** A request that may wait for something. */
export interface Waiting {
  context: Context
  /** The instant at which the request arrived. */
  now: string
  isGone: () => boolean
}

/** A change by another server is noticed at most this much later. */
const lookMs = 1000

/** Wakes the requests of this server that wait for this id. Callers commit their change first. */
export const ring = (id: string): void => void bell.emit(id)

/** Calls `look` until it returns a result, `until` has passed, or the caller has hung up. */
export async function waitFor<T>(
  id: string,
  { context, until, isGone }: { context: Context; until: Date; isGone: () => boolean },
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (;;) {
    // Listens before it looks, so that no event in between is missed.
    const { rung, close } = listen(id)
    try {
      const seen = await look()
      const leftMs = until.getTime() - context.now().getTime()
      if (seen !== undefined || leftMs <= 0 || isGone()) return seen
      await rung(Math.min(leftMs, lookMs))
      if (isGone()) return undefined
    } finally {
      close()
    }
  }
}

function listen(id: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  bell.on(id, resolve)
  return {
    rung: (ms: number) => {
      timer = setTimeout(resolve, ms)
      return promise
    },
    close: () => {
      clearTimeout(timer)
      bell.off(id, resolve)
    },
  }
}
