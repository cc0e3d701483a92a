import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Batcher, openBatcher, openBatcherPerKey } from './batcher.ts'

/** A batcher that records its groups. The test decides when each group is answered or refused. */
function recording({ itemsMax = 10, isAhead = false }) {
  const sent: { items: string[]; answer: (results: string[]) => void; refuse: (error: Error) => void }[] = []
  const batcher: Batcher<string, string> = openBatcher({
    keyOf: (item) => item.charAt(0),
    itemsMax,
    isAhead,
    send: (items) => new Promise((answer, refuse) => sent.push({ items, answer, refuse })),
  })
  const add = (...items: string[]) => items.map((item) => batcher.add(item))
  /** Answers the latest group, once it has been sent. */
  const answer = async (results?: string[]) => {
    await tick()
    const last = sent.at(-1)
    last?.answer(results ?? last.items.map((item) => `${item}!`))
    await tick()
  }
  return { sent, add, answer, itemsOf: () => sent.map(({ items }) => items) }
}

/** A group is sent one event loop turn after the first turn in which it could be sent. */
const tick = async () => {
  await setImmediate()
  await setImmediate()
}

describe.each([{ isAhead: false }, { isAhead: true }])('a group (ahead: $isAhead)', ({ isAhead }) => {
  test('takes all items that were added in one event loop turn, and each gets its own answer', async () => {
    const { add, answer, itemsOf } = recording({ isAhead })
    const answers = add('a', 'b', 'c')
    await answer()
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!'])
    expect(itemsOf()).toEqual([['a', 'b', 'c']])
  })

  test('waits for the group before it, and takes all items that arrived meanwhile', async () => {
    const { add, answer, itemsOf } = recording({ isAhead })
    add('a')
    await tick()
    add('b')
    await tick()
    add('c')
    expect(itemsOf()).toEqual([['a']])
    await answer()
    expect(itemsOf()).toEqual([['a'], ['b', 'c']])
  })

  test('has no key twice: a second item with the same key waits for the next group', async () => {
    const { add, answer, itemsOf } = recording({ isAhead })
    const answers = add('a1', 'a2', 'b1', 'a3')
    for (let i = 0; i < 3; i++) await answer()
    expect(itemsOf()).toEqual([['a1', 'b1'], ['a2'], ['a3']])
    expect(await Promise.all(answers)).toEqual(['a1!', 'a2!', 'b1!', 'a3!'])
  })

  test('has at most itemsMax items', async () => {
    const { add, answer, itemsOf } = recording({ itemsMax: 2, isAhead })
    add('a', 'b', 'c', 'd', 'e')
    for (let i = 0; i < 3; i++) await answer()
    expect(itemsOf()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('that fails rejects each of its items, and no item of the next group', async () => {
    const { add, answer, sent } = recording({ isAhead })
    const failing = Promise.allSettled(add('a', 'b'))
    await tick()
    const next = add('c')
    sent[0]?.refuse(new Error('lost'))
    expect((await failing).map((one) => one.status)).toEqual(['rejected', 'rejected'])
    await answer()
    expect(await Promise.all(next)).toEqual(['c!'])
  })
})

test.each([
  { isAhead: true, of: 'a database in its own process gets the next group before the last one is answered' },
  { isAhead: false, of: 'a database in this process gets the next group after the last one is answered' },
])('$of', async ({ isAhead }) => {
  const { add, answer, sent } = recording({ isAhead })
  const [first] = add('a')
  await tick()
  add('b')
  const sentWhenAnswered = first?.then(() => sent.length)
  await answer()
  expect(await sentWhenAnswered).toBe(isAhead ? 2 : 1)
})

describe('a batcher for each key', () => {
  /** The first character of an item is its key. */
  function perKey() {
    const opened: ReturnType<typeof recording>[] = []
    const batchers = openBatcherPerKey<string, string>(
      (item) => item.charAt(0),
      () => {
        const own = recording({})
        opened.push(own)
        return { add: (item) => own.add(item)[0] as Promise<string> }
      },
    )
    return { batchers, opened }
  }

  test('neither delays nor rejects an item of another key', async () => {
    const { batchers, opened } = perKey()
    const slow = batchers.add('a1')
    const prompt = batchers.add('b1')
    await opened[1]?.answer()
    expect(await prompt).toBe('b1!')
    const failed = expect(slow).rejects.toThrow('lost')
    opened[0]?.sent[0]?.refuse(new Error('lost'))
    await failed
  })

  test('is reused while it has an item, and is dropped after the last one', async () => {
    const { batchers, opened } = perKey()
    const [first, second] = [batchers.add('a1'), batchers.add('a2')]
    expect(opened).toHaveLength(1)
    await opened[0]?.answer()
    await first
    const third = batchers.add('a3')
    expect(opened).toHaveLength(1)
    await opened[0]?.answer()
    await opened[0]?.answer()
    expect(await Promise.all([second, third])).toEqual(['a2!', 'a3!'])
    batchers.add('a4')
    expect(opened).toHaveLength(2)
  })
})
