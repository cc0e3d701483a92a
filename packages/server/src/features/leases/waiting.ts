import { EventEmitter } from 'node:events'
import type { Context } from '../../kernel/context.ts'

/** By the id of what something happened to: a lease, a target, a provisioner's token. */
const bell = new EventEmitter().setMaxListeners(0)

/** What another server did is noticed this much later at most. */
const lookMs = 1000

/** Says, once it is committed, that those on this server who wait for it should look now. */
export const ring = (id: string): void => void bell.emit(id)

/** Looks until there is something to be seen, time is up, or nobody waits for the answer any more. */
export async function waitFor<T>(
  id: string,
  { context, seconds, isGone }: { context: Context; seconds: number; isGone: () => boolean },
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = context.now().getTime() + seconds * 1000
  for (;;) {
    // Before the look: what happens during it must not be missed.
    const { rung, close } = listen(id)
    try {
      const seen = await look()
      const leftMs = until - context.now().getTime()
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
