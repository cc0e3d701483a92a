import { EventEmitter } from 'node:events'
import type { Context } from '../../http/context.ts'

/** By the id of what something happened to: a lease, a target, a provisioner's token. */
const bell = new EventEmitter().setMaxListeners(0)

/** A wait is counted from the moment at which the request arrived. */
export const secondsAfter = (now: string, seconds: number): Date => new Date(Date.parse(now) + seconds * 1000)

/** A request that may wait for something. */
export interface Waiting {
  context: Context
  /** The instant at which the request arrived. */
  now: string
  isGone: () => boolean
}

/** What another server did is noticed this much later at most. */
const lookMs = 1000

/** Says, once it is committed, that those on this server who wait for it should look now. */
export const ring = (id: string): void => void bell.emit(id)

/** Looks until there is something to be seen, `until` has come, or nobody waits for the answer any more. */
export async function waitFor<T>(
  id: string,
  { context, until, isGone }: { context: Context; until: Date; isGone: () => boolean },
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (;;) {
    // Before the look: what happens during it must not be missed.
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
