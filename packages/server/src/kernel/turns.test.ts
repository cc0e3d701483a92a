import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openTurns } from './turns.ts'

/** Records tasks. Each ends when the test calls `end`. */
function recording(atOnce: number) {
  const turns = openTurns(atOnce)
  const begun: string[] = []
  const tasks = new Map<string, PromiseWithResolvers<string>>()
  const run = (key: string, name: string) =>
    turns(key, () => {
      begun.push(name)
      const task = Promise.withResolvers<string>()
      tasks.set(name, task)
      return task.promise
    })
  const end = async (name: string, error?: Error) => {
    if (error) tasks.get(name)?.reject(error)
    else tasks.get(name)?.resolve(`${name}!`)
    await setImmediate()
  }
  return { run, end, begun }
}

test('tasks of one key begin in order, two at a time, and each gets its own result', async () => {
  const { run, end, begun } = recording(2)
  const results = Promise.all(['a', 'b', 'c', 'd'].map((name) => run('key', name)))
  expect(begun).toEqual(['a', 'b'])
  await end('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('a')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  await end('c')
  await end('d')
  expect(await results).toEqual(['a!', 'b!', 'c!', 'd!'])
})

test('a task of another key does not wait', async () => {
  const { run, begun } = recording(1)
  for (const [key, name] of [
    ['one', 'a'],
    ['one', 'b'],
    ['two', 'c'],
  ] as const)
    run(key, name)
  expect(begun).toEqual(['a', 'c'])
})

test('the next task begins after a failed one', async () => {
  const { run, end, begun } = recording(1)
  const failing = run('key', 'a')
  const next = run('key', 'b')
  const failed = expect(failing).rejects.toThrow('lost')
  await end('a', new Error('lost'))
  await failed
  expect(begun).toEqual(['a', 'b'])
  await end('b')
  expect(await next).toBe('b!')
  run('key', 'c')
  expect(begun).toEqual(['a', 'b', 'c'])
})
