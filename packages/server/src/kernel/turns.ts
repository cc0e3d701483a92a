/** Runs a task when a slot of its key is free. */
type Turns = <T>(key: string, task: () => Promise<T>) => Promise<T>

/** Runs at most `atOnce` tasks of a key at a time. The other tasks of the key wait, and the oldest goes first. */
export function openTurns(atOnce: number): Turns {
  const keys = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, task) => {
    const own = keys.get(key) ?? { running: 0, waiting: [] }
    keys.set(key, own)
    if (own.running < atOnce) own.running++
    else await new Promise<void>((begin) => own.waiting.push(begin))
    try {
      return await task()
    } finally {
      const next = own.waiting.shift()
      // The next task takes over the slot, so that no newer task can take it first.
      if (next) next()
      else if (--own.running === 0) keys.delete(key)
    }
  }
}
