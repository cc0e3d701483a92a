import { setImmediate } from 'node:timers/promises'

/**
 * Group commit: items that arrive while a group is being written form the next group. So many items share the cost of
 * one statement and of its fsync. Only one group runs at a time: measured with 32 writers, two groups at a time are
 * smaller and slower.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>
}

export interface BatcherOptions<Item, Result> {
  /** No group contains two items with the same key: the second item waits for the next group. */
  keyOf: (item: Item) => string
  itemsMax: number
  /**
   * True if the database runs in its own process, like PostgreSQL. It then gets the next group before the callers of
   * the last group are answered, so that it never idles (10 per cent more writes). With the embedded database this
   * would delay those callers.
   */
  isAhead: boolean
  /** Returns results in the order of the items. If it throws, every item of the group fails. */
  send: (items: Item[]) => Promise<Result[]>
}

interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export function openBatcher<Item, Result>({
  keyOf,
  itemsMax,
  isAhead,
  send,
}: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = false

  const takeGroup = () => {
    const group = new Map<string, Waiting<Item, Result>>()
    waiting = waiting.filter((one) => {
      const key = keyOf(one.item)
      if (group.size === itemsMax || group.has(key)) return true
      group.set(key, one)
      return false
    })
    return [...group.values()]
  }
  /** -> a function that answers each caller of the group. */
  const sendGroup = async (group: Waiting<Item, Result>[]): Promise<() => void> => {
    try {
      const results = await send(group.map(({ item }) => item))
      return () => {
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
      }
    } catch (error) {
      return () => {
        for (const { reject } of group) reject(error)
      }
    }
  }
  const run = async () => {
    // Wait until all ready sockets have been read, so that requests that arrived together share a group.
    await setImmediate()
    let answer = nothing
    while (waiting.length > 0) {
      const sent = sendGroup(takeGroup())
      // The group has been sent by the next turn of the event loop.
      await setImmediate()
      answer()
      answer = await sent
      if (isAhead) continue
      answer()
      answer = nothing
      await setImmediate()
    }
    answer()
    running = false
  }
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (running) return
        running = true
        run()
      }),
  }
}

/**
 * Opens a batcher for each key, and drops it when it is empty. All items of a group have the same key. So a group fails
 * alone, and a slow group delays no item of another key.
 */
export function openBatcherPerKey<Item, Result>(
  keyOf: (item: Item) => string,
  open: () => Batcher<Item, Result>,
): Batcher<Item, Result> {
  const batchers = new Map<string, { batcher: Batcher<Item, Result>; items: number }>()
  return {
    async add(item) {
      const key = keyOf(item)
      const own = batchers.get(key) ?? { batcher: open(), items: 0 }
      batchers.set(key, own)
      own.items++
      try {
        return await own.batcher.add(item)
      } finally {
        if (--own.items === 0) batchers.delete(key)
      }
    },
  }
}

const nothing = () => {}
