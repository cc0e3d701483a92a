import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Batcher, openBatcher, openBatcherPerKey } from './batcher.ts'

/** Groups as they were sent; each is answered, or refused, when the test says so. */
function recording({ itemsMax = 10, isAhead = false }) {
  const sent: { items: string[]; answer: (results: string[]) => void; refuse: (error: Error) => void }[] = []
  const batcher: Batcher<string, string> = openBatcher({
    keyOf: (item) => item.charAt(0),
    itemsMax,
    isAhead,
    send: (items) => new Promise((answer, refuse) => sent.push({ items, answer, refuse })),
  })
  const add = (...items: string[]) => items.map((item) => batcher.add(item))
  /** Answers the group that is on its way, once it is. */
  const answer = async (results?: string[]) => {
    await tick()
    const last = sent.at(-1)
    last?.answer(results ?? last.items.map((item) => `${item}!`))
    await tick()
  }
  return { sent, add, answer, itemsOf: () => sent.map(({ items }) => items) }
}

/** A group goes in the turn after that in which it may. */
const tick = async () => {
  await setImmediate()
  await setImmediate()
}

describe.each([{ isAhead: false }, { isAhead: true }])('a group (ahead: $isAhead)', ({ isAhead }) => {
  test('takes what comes in the same turn, and each gets its own answer', async () => {
    const { add, answer, itemsOf } = recording({ isAhead })
    const answers = add('a', 'b', 'c')
    await answer()
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!'])
    expect(itemsOf()).toEqual([['a', 'b', 'c']])
  })

  test('waits for the one before it, and takes all that came meanwhile', async () => {
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

  test('holds no key twice: the second of a key goes with the next, in the order of coming', async () => {
    const { add, answer, itemsOf } = recording({ isAhead })
    const answers = add('a1', 'a2', 'b1', 'a3')
    for (let i = 0; i < 3; i++) await answer()
    expect(itemsOf()).toEqual([['a1', 'b1'], ['a2'], ['a3']])
    expect(await Promise.all(answers)).toEqual(['a1!', 'a2!', 'b1!', 'a3!'])
  })

  test('is no larger than it may be', async () => {
    const { add, answer, itemsOf } = recording({ itemsMax: 2, isAhead })
    add('a', 'b', 'c', 'd', 'e')
    for (let i = 0; i < 3; i++) await answer()
    expect(itemsOf()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('that fails fails for each of it, and for none of the next', async () => {
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
  { isAhead: true, of: 'a database that works by itself is sent the next before the last is answered' },
  { isAhead: false, of: 'one that works in this process gets the next when the last has been answered' },
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

  test('delays no item of another key, and fails for none', async () => {
    const { batchers, opened } = perKey()
    const slow = batchers.add('a1')
    const prompt = batchers.add('b1')
    await opened[1]?.answer()
    expect(await prompt).toBe('b1!')
    const failed = expect(slow).rejects.toThrow('lost')
    opened[0]?.sent[0]?.refuse(new Error('lost'))
    await failed
  })

  test('is one batcher while an item is in it, and is dropped after the last', async () => {
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
