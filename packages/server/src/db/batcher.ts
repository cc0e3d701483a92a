import { setImmediate } from 'node:timers/promises'

/**
 * Group commit: what arrives while a group is on its way goes with the next one, so that many share the cost of one
 * statement and of its fsync. One group at a time: measured with 32 writers, two at a time are smaller and slower.
 */
export interface Batcher<Item, Result> {
  add(item: Item): Promise<Result>
}

export interface BatcherOptions<Item, Result> {
  /** No group holds two items of one key: the second waits for the next. */
  keyOf: (item: Item) => string
  itemsMax: number
  /**
   * Whether the database works by itself, as PostgreSQL does: it is given the next group before the last one is answered,
   * so that it does not wait meanwhile (10 per cent more writes). The embedded one would keep the callers of the last waiting.
   */
  isAhead: boolean
  /** Gives results in the order of the items. When it fails, each of the group does. */
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
  /** -> what answers each of the group. */
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
    // After the sockets that are ready have been read: requests that came together go together.
    await setImmediate()
    let answer = nothing
    while (waiting.length > 0) {
      const sent = sendGroup(takeGroup())
      // In the next turn it is on its way.
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
 * Opens a batcher for each key, and drops it when nothing is in it. A group holds items of one key, so that it succeeds or
 * fails by itself, and a slow group delays no item of another key.
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
